// Go: goroutines, with what a Go programmer would use for each case.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const eight = 8

// As in cases.h: what all write stands apart.
var hot struct {
	_       [128]byte
	mutex   sync.Mutex
	_       [128]byte
	counter int64
	_       [128]byte
}
var longest [eight]time.Duration

// As now_ns in measure.h: the process's CPU time on one processor, elapsed time on more.
var clock uintptr = 1

func now() time.Duration {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}
func since(begin time.Duration) time.Duration { return now() - begin }

func batchTime() time.Duration {
	if ms, err := strconv.ParseFloat(os.Getenv("QUARTZ_BENCH_MS"), 64); err == nil {
		return time.Duration(ms * 1e6)
	}
	return 20 * time.Millisecond
}

// As measure in measure.h: n grows until a batch is long enough; the median of five counts.
func measure(run func(n int), first, step int) {
	measureTimed(func(n int) time.Duration {
		begin := now()
		run(n)
		return since(begin)
	}, first, step)
}

// The same where `run` returns what n operations took.
func measureTimed(run func(n int) time.Duration, first, step int) {
	n := first
	for {
		grow := float64(batchTime()) / float64(run(n)) * 1.2
		if grow < 1.3 {
			break
		}
		if grow > 8 {
			grow = 8
		}
		n = int(float64(n)*grow) / step * step
	}
	var ns []float64
	for k := 0; k < 5; k++ {
		ns = append(ns, float64(run(n).Nanoseconds())/float64(n))
	}
	sort.Float64s(ns)
	fmt.Printf("ns %.4f\n", ns[2])
}

func together(n int, run func(k int)) {
	var all sync.WaitGroup
	all.Add(n)
	for k := 0; k < n; k++ {
		go func(k int) {
			run(k)
			all.Done()
		}(k)
	}
	all.Wait()
}

// As yield_many in cases.h.
func yieldMany(n int) time.Duration {
	const many = 100000
	begun, yielded, first, last := 0, 0, 0, 0
	var begin, end, opened time.Duration
	gate := make(chan bool)
	together(many+1, func(me int) {
		if me == many {
			opened = now()
			close(gate)
			return
		}
		<-gate
		begun++
		for k := 0; k < n/many+1; k++ {
			if begun == many && begin == 0 {
				first, begin = yielded, now()
			}
			runtime.Gosched()
			yielded++
		}
		if end == 0 {
			last, end = yielded, now()
		}
	})
	if begin == 0 || last <= first {
		first, last, begin, end = 0, yielded, opened, now()
	}
	return time.Duration(float64(end-begin) * float64(n) / float64(last-first))
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	var a int
	var child sync.WaitGroup
	child.Add(1)
	go func() {
		a = fib(n - 1)
		child.Done()
	}()
	b := fib(n - 2)
	child.Wait()
	return a + b
}

func measureFib() {
	a, b := 1.0, 1.0 // b - 1: spawns of fib(n)
	n := 2
	grow := func() { a, b = b, a+b; n++ }
	for a, b = 1, 2; n < 18; grow() {
	}
	for n < 30 {
		begin := now()
		fib(n)
		if since(begin) > batchTime()*7/10 {
			break
		}
		grow()
	}
	var ns []float64
	for k := 0; k < 5; k++ {
		begin := now()
		fib(n)
		ns = append(ns, float64(since(begin).Nanoseconds())/(b-1))
	}
	sort.Float64s(ns)
	fmt.Printf("ns %.4f\n", ns[2])
}

func resident() float64 {
	text, _ := os.ReadFile("/proc/self/statm")
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return float64(pages) * float64(os.Getpagesize())
}

func blockMany(threads int) {
	for round := 0; round < 2; round++ {
		wake := sync.NewCond(&hot.mutex)
		blocked, released := 0, false
		var all sync.WaitGroup
		all.Add(threads)
		runtime.GC()
		before, begin := resident(), now()
		for k := 0; k < threads; k++ {
			go func() {
				hot.mutex.Lock()
				blocked++
				for !released {
					wake.Wait()
				}
				hot.mutex.Unlock()
				all.Done()
			}()
		}
		for seen := 0; seen < threads; {
			runtime.Gosched()
			hot.mutex.Lock()
			seen = blocked
			hot.mutex.Unlock()
		}
		made := since(begin)
		name := "recycled_ns"
		if round == 0 {
			name = "ns"
			fmt.Printf("bytes %.4f\n", (resident()-before)/float64(threads))
		}
		begin = now()
		hot.mutex.Lock()
		released = true
		wake.Broadcast()
		hot.mutex.Unlock()
		all.Wait()
		fmt.Printf("%s %.4f\n", name, float64(made.Nanoseconds())/float64(threads))
		if round == 1 {
			fmt.Printf("wake_ns %.4f\n", float64(since(begin).Nanoseconds())/float64(threads))
		}
	}
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: PROGRAM CASE PROCESSORS [THREADS]")
		os.Exit(1)
	}
	processors, _ := strconv.Atoi(os.Args[2])
	threads := 100000
	if len(os.Args) > 3 {
		threads, _ = strconv.Atoi(os.Args[3])
	}
	runtime.GOMAXPROCS(processors)
	if processors == 1 {
		clock = 2
	}
	switch os.Args[1] {
	case "spawn":
		measure(func(n int) {
			var one sync.WaitGroup
			for k := 0; k < n; k++ {
				one.Add(1)
				go one.Done()
				one.Wait()
			}
		}, 1000, 1)
	case "spawn-batch":
		measure(func(n int) {
			for k := 0; k < n; k += 1000 {
				together(1000, func(int) {})
			}
		}, 1000, 1000)
	case "fib":
		measureFib()
	case "yield":
		measure(func(n int) {
			together(2, func(int) {
				for k := 0; k < n/2; k++ {
					runtime.Gosched()
				}
			})
		}, 10000, 2)
	case "yield-many":
		measureTimed(yieldMany, 500000, 100000)
	case "lock":
		measure(func(n int) {
			for k := 0; k < n; k++ {
				hot.mutex.Lock()
				hot.counter++
				hot.mutex.Unlock()
			}
		}, 10000, 1)
	case "lock-eight":
		measure(func(n int) {
			together(eight, func(me int) {
				last := time.Now()
				for k := 0; k < n/eight; k++ {
					hot.mutex.Lock()
					hot.counter++
					hot.mutex.Unlock()
					if k%16 == 0 {
						at := time.Now()
						if at.Sub(last) > longest[me] {
							longest[me] = at.Sub(last)
						}
						last = at
					}
				}
			})
		}, 8000, 8)
		most := time.Duration(0)
		for _, one := range longest {
			if one > most {
				most = one
			}
		}
		fmt.Printf("longest_us %.4f\n", float64(most.Nanoseconds())/1000)
	case "cond":
		measure(func(n int) {
			conds := [2]*sync.Cond{sync.NewCond(&hot.mutex), sync.NewCond(&hot.mutex)}
			turn := 0
			together(2, func(me int) {
				for k := 0; k < n; k++ {
					hot.mutex.Lock()
					for turn != me {
						conds[me].Wait()
					}
					turn = 1 - me
					conds[1-me].Signal()
					hot.mutex.Unlock()
				}
			})
		}, 1000, 1)
	case "channel":
		measure(func(n int) {
			there, back := make(chan int, 1), make(chan int, 1)
			together(2, func(me int) {
				for k := 0; k < n; k++ {
					if me == 0 {
						there <- k
						<-back
					} else {
						back <- <-there
					}
				}
			})
		}, 1000, 1)
	case "barrier":
		measure(func(n int) {
			arrived, generation := 0, 0
			all := sync.NewCond(&hot.mutex)
			together(eight, func(int) {
				for k := 0; k < n; k++ {
					hot.mutex.Lock()
					mine := generation
					if arrived++; arrived == eight {
						arrived = 0
						generation++
						all.Broadcast()
					}
					for mine == generation {
						all.Wait()
					}
					hot.mutex.Unlock()
				}
			})
		}, 1000, 1)
	case "blocked":
		blockMany(threads)
	default:
		os.Exit(3)
	}
}
