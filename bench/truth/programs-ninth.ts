/**
 * The ninth batch of real programs, registered after the eighth: like programs.ts; here programs in C, C++ and
 * Fortran. Causes are by knowledge of the programs, and by plain tools and experiments: time, strace, one CPU, other
 * settings.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, ninth batch';
const ledger = `/* Four processes book payments in a common ledger, which is a file: a record is locked with
   fcntl, read, its risk computed, and written back; with 1, the risk is computed before the
   lock is taken. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { tellers = 4, payments = 900, accounts = 8 };
struct account {
	int64_t balance, payments;
	double risk;
};
struct audit {
	unsigned long booked[tellers][8];
};
static struct audit *audit;

static double risk_of(uint64_t seed, int paths) {
	double worst = 0;
	for (int path = 0; path < paths; path++) {
		double value = 100;
		for (int day = 0; day < 250; day++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			value *= 1.0001 + ((double)(seed >> 40) / (1 << 24) - 0.5) * 0.02;
		}
		if (100 - value > worst) worst = 100 - value;
	}
	return worst;
}

static void lock_ledger(int file, short kind) {
	struct flock range = {.l_type = kind, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
	while (fcntl(file, F_SETLKW, &range) < 0) {
	}
}

static void book(int file, int which, int64_t amount, int before) {
	struct account account;
	double risk = 0;
	if (before) risk = risk_of((uint64_t)amount + 1, 2000);
	lock_ledger(file, F_WRLCK);
	if (pread(file, &account, sizeof account, which * (off_t)sizeof account) != sizeof account) exit(2);
	account.balance += amount;
	account.payments++;
	if (!before) risk = risk_of((uint64_t)amount + 1, 2000);
	account.risk = risk > account.risk ? risk : account.risk;
	if (pwrite(file, &account, sizeof account, which * (off_t)sizeof account) != sizeof account) exit(2);
	lock_ledger(file, F_UNLCK);
}

static void teller(int number, int before) {
	int file = open("ledger.data", O_RDWR);
	char line[80];
	uint64_t seed = (uint64_t)number * 977 + 13;
	for (int k = 0; k < payments; k++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		int64_t amount = (int64_t)(seed >> 50);
		snprintf(line, sizeof line, "%d:%d:%lld", number, k, (long long)amount);
		audit->booked[number][strlen(line) & 7]++;
		book(file, (int)(seed >> 33) % accounts, amount, before);
	}
	close(file);
}

int main(int argc, char **argv) {
	int before = argc > 1 && atoi(argv[1]) == 1;
	int file = open("ledger.data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct account none[accounts] = {{0}};
	if (file < 0 || write(file, none, sizeof none) != sizeof none) return 2;
	audit = mmap(NULL, sizeof *audit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int k = 0; k < tellers; k++)
		if (fork() == 0) {
			teller(k, before);
			_exit(0);
		}
	while (wait(NULL) > 0) {
	}
	long long sum = 0;
	for (int k = 0; k < accounts; k++) {
		if (pread(file, none, sizeof none[0], k * (off_t)sizeof none[0]) != sizeof none[0]) return 2;
		sum += none[0].balance;
	}
	printf("%lld\\n", sum);
	return 0;
}
`;
const accessLog = `// Four threads answer requests and make a line of an access log for each: the time is made
// readable with localtime_r each time; with 1, when the second has changed. Counters are in a
// mutex, lines go to a buffer of each thread.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {
constexpr int threads = 4, requests = 5000000;

struct Clock {
  bool kept;
  time_t second = -1;
  char text[32] = "";

  const char *at(time_t now) {
    if (kept && now == second) return text;
    tm parts{};
    localtime_r(&now, &parts);
    strftime(text, sizeof text, "%d/%b/%Y:%H:%M:%S %z", &parts);
    second = now;
    return text;
  }
};

struct Statistics {
  std::mutex lock;
  std::map<int, long> codes;

  void add(int code, long many) {
    std::lock_guard<std::mutex> guard(lock);
    codes[code] += many;
  }
};

class Session {
public:
  explicit Session(uint64_t seed) : seed(seed) {}

  int status(const std::string &path) {
    uint64_t hash = 14695981039346656037u;
    for (char letter : path) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211u;
    return hash % 50 == 0 ? 404 : 200;
  }

  std::string path() {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    char text[48];
    snprintf(text, sizeof text, "/items/%llu/page/%llu", static_cast<unsigned long long>(seed % 9973),
             static_cast<unsigned long long>(seed >> 60));
    return text;
  }

private:
  uint64_t seed;
};

void serve(int number, bool kept, Statistics &statistics, size_t &bytes) {
  Session session(static_cast<uint64_t>(number) * 7919 + 1);
  Clock clock{kept};
  std::string log;
  std::map<int, long> codes;
  const time_t start = 1700000000;
  for (int k = 0; k < requests; k++) {
    const std::string path = session.path();
    const int code = session.status(path);
    log += clock.at(start + k / 5000);
    log += " GET ";
    log += path;
    log += code == 200 ? " 200\\n" : " 404\\n";
    codes[code]++;
    if (log.size() > 60000) {
      bytes += log.size();
      log.clear();
      for (const auto &[which, many] : codes) statistics.add(which, many);
      codes.clear();
    }
  }
  bytes += log.size();
  for (const auto &[which, many] : codes) statistics.add(which, many);
}
} // namespace

int main(int argc, char **argv) {
  const bool kept = argc > 1 && atoi(argv[1]) == 1;
  Statistics statistics;
  std::vector<std::thread> all;
  std::vector<size_t> bytes(threads * 16);
  for (int k = 0; k < threads; k++)
    all.emplace_back([&, k] { serve(k, kept, statistics, bytes[k * 16]); });
  for (auto &one : all) one.join();
  size_t sum = 0;
  for (size_t one : bytes) sum += one;
  printf("%zu bytes, %ld found\\n", sum, statistics.codes[200]);
}
`;
const spectra = `! Spectra of many signals: a parallel loop computes each in an ordered region, since results are
! printed in order; with 1, only what is added to the report is ordered.
program spectra
   implicit none
   integer, parameter :: signals = 400, samples = 1024
   real(8), allocatable :: peaks(:), totals(:)
   real(8) :: checksum
   character(8) :: argument
   integer :: mode, k

   mode = 0
   if (command_argument_count() > 0) then
      call get_command_argument(1, argument)
      read (argument, *) mode
   end if
   allocate (peaks(signals), totals(signals))
   checksum = 0
   if (mode == 1) then
      call apart(checksum)
   else
      call together(checksum)
   end if
   do k = 1, signals
      totals(k) = peaks(k)
   end do
   print '(f16.4, f12.4)', checksum, maxval(totals)

contains

   subroutine make(number, signal)
      integer, intent(in) :: number
      real(8), intent(out) :: signal(samples)
      integer :: t
      do t = 1, samples
         signal(t) = sin(0.01d0*t*(1 + mod(number, 17))) + 0.3d0*cos(0.07d0*t*mod(number, 5))
      end do
   end subroutine make

   real(8) function peak_of(signal)
      real(8), intent(in) :: signal(samples)
      real(8) :: re, im, angle
      integer :: f, t
      peak_of = 0
      do f = 1, samples/2
         re = 0
         im = 0
         do t = 1, samples
            angle = 6.283185307179586d0*f*t/samples
            re = re + signal(t)*cos(angle)
            im = im + signal(t)*sin(angle)
         end do
         peak_of = max(peak_of, sqrt(re*re + im*im))
      end do
   end function peak_of

   subroutine report(number, checksum)
      integer, intent(in) :: number
      real(8), intent(inout) :: checksum
      character(40) :: line
      write (line, '(i6, f16.6)') number, peaks(number)
      checksum = checksum*0.999d0 + peaks(number) + len_trim(line)
   end subroutine report

   subroutine together(checksum)
      real(8), intent(inout) :: checksum
      real(8) :: signal(samples)
      integer :: n
      !$omp parallel do ordered schedule(dynamic) private(signal)
      do n = 1, signals
         call make(n, signal)
         !$omp ordered
         peaks(n) = peak_of(signal)
         call report(n, checksum)
         !$omp end ordered
      end do
   end subroutine together

   subroutine apart(checksum)
      real(8), intent(inout) :: checksum
      real(8) :: signal(samples)
      integer :: n
      !$omp parallel do ordered schedule(dynamic) private(signal)
      do n = 1, signals
         call make(n, signal)
         peaks(n) = peak_of(signal)
         !$omp ordered
         call report(n, checksum)
         !$omp end ordered
      end do
   end subroutine apart
end program spectra
`;

export const ninthBatch: readonly Program[] = [
  {
    name: 'c-ledger-file-lock',
    language: 'C',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare: `${heredoc('ledger.c', ledger)}cc -O2 -g -o ledger ledger.c`,
    run: sh('./ledger 0'),
    fixed: sh('./ledger 1'),
    registered: {
      on,
      cause: 'four processes compute while they have the one lock of a file (fcntl): one works at a time',
      kinds: ['lock-contention', 'processes', 'io', 'serial', 'dependency'],
      subject: /fcntl|lock_ledger|ledger|file lock|book/i,
      fix: 'what needs no lock is computed before it is taken',
    },
  },
  {
    name: 'cpp-time-of-each-line',
    language: 'C++',
    kind: 'server',
    needs: ['c++'],
    packages: ['g++'],
    prepare: `${heredoc('access.cpp', accessLog)}c++ -std=c++17 -O2 -g -o access access.cpp -pthread`,
    run: sh('./access 0'),
    fixed: sh('./access 1'),
    registered: {
      on,
      cause:
        'localtime_r and strftime for each line: 43 % by their work, the rest by the one lock of time zones in libc',
      kinds: ['optimize', 'lock-contention', 'overhead'],
      subject: /localtime|tz_?convert|tzset|offtime|strftime|Clock::at/i,
      fix: 'the time is made readable when the second has changed',
    },
  },
  {
    name: 'fortran-ordered',
    language: 'Fortran, OpenMP',
    kind: 'application',
    needs: ['gfortran'],
    packages: ['gfortran'],
    prepare: `${heredoc('spectra.f90', spectra)}gfortran -O2 -g -fopenmp -o spectra spectra.f90`,
    run: sh('./spectra 0'),
    fixed: sh('./spectra 1'),
    registered: {
      on,
      cause: 'all the work of a parallel loop is in its ordered region: one thread works, the other spins',
      kinds: ['spinning', 'dependency', 'lock-contention', 'serial', 'overhead'],
      subject: /ordered|together/i,
      fix: 'only the report is in the ordered region',
    },
  },
];
