/**
 * More of the twelfth batch: programs in Rust, Go and JavaScript, and programs of Debian.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-24, twelfth batch';
const primes = `//! Primes are counted by two threads, which count the numbers that they have looked at together,
//! for a display of progress; with 1, each notes it once in 4,096 numbers.
use std::env;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const UPTO: u64 = 90_000_000;

struct Progress {
    looked: AtomicU64,
    found: AtomicU64,
}

fn is_prime(number: u64) -> bool {
    if number < 2 || number % 2 == 0 {
        return number == 2;
    }
    let mut by = 3;
    while by * by <= number && by < 30 {
        if number % by == 0 {
            return false;
        }
        by += 2;
    }
    true
}

fn count(progress: &Progress, first: u64, each: u64) {
    let (mut looked, mut found) = (0, 0);
    let mut number = first;
    while number < UPTO {
        looked += 1;
        found += is_prime(number) as u64;
        if looked == each {
            progress.looked.fetch_add(looked, Ordering::SeqCst);
            progress.found.fetch_add(found, Ordering::SeqCst);
            (looked, found) = (0, 0);
        }
        number += 2;
    }
    progress.looked.fetch_add(looked, Ordering::SeqCst);
    progress.found.fetch_add(found, Ordering::SeqCst);
}

fn main() {
    let each = if env::args().nth(1).as_deref() == Some("1") { 4096 } else { 1 };
    let progress = Progress { looked: AtomicU64::new(0), found: AtomicU64::new(0) };
    thread::scope(|scope| {
        for first in 0..2 {
            let progress = &progress;
            scope.spawn(move || count(progress, first, each));
        }
    });
    println!("{} of {}", progress.found.load(Ordering::SeqCst), progress.looked.load(Ordering::SeqCst));
}
`;
const shades = `// Shades of an image are computed by a goroutine for each pixel; with 1, for each row.
package main

import (
	"fmt"
	"math"
	"os"
	"sync"
)

const width, height = 1600, 1000

func shade(x, y int) float64 {
	return math.Sqrt(float64(x*x+y*y)) * math.Sin(float64(x)/50)
}

func main() {
	rows := len(os.Args) > 1 && os.Args[1] == "1"
	image := make([]float64, width*height)
	var all sync.WaitGroup
	for frame := 0; frame < 2; frame++ {
		for y := 0; y < height; y++ {
			if rows {
				all.Add(1)
				go func(y int) {
					defer all.Done()
					for x := 0; x < width; x++ {
						image[y*width+x] += shade(x, y+frame)
					}
				}(y)
				continue
			}
			for x := 0; x < width; x++ {
				all.Add(1)
				go func(x, y int) {
					defer all.Done()
					image[y*width+x] += shade(x, y+frame)
				}(x, y)
			}
		}
		all.Wait()
	}
	sum := 0.0
	for _, one := range image {
		sum += one
	}
	fmt.Printf("%.3f\\n", sum)
}
`;
const carts = `// Carts are priced: each rule gets a copy of the cart, by JSON.parse(JSON.stringify(...));
// with 1, the cart itself.
const shared = process.argv[2] === '1';

function cartOf(number) {
  const lines = [];
  for (let k = 0; k < 30; k++)
    lines.push({ article: \`article-\${(number * 31 + k * 7) % 1000}\`, count: 1 + (k % 4), price: 2.5 + (k % 17) });
  return { number, customer: { name: \`customer-\${number % 500}\`, discounts: [0.05, 0.1] }, lines };
}

const rules = [
  (cart) => cart.lines.reduce((sum, { count, price }) => sum + count * price, 0),
  (cart) => -cart.lines.reduce((sum, { count, price }) => sum + (count > 2 ? price * 0.1 : 0), 0),
  (cart) => (cart.number % 10 === 0 ? -cart.customer.discounts[1] : 0),
];

let total = 0;
for (let k = 0; k < 30000; k++) {
  const cart = cartOf(k);
  for (const rule of rules) total += rule(shared ? cart : JSON.parse(JSON.stringify(cart)));
}
console.log(total.toFixed(2));
`;
const stock = `create table article (number integer, name text, price real);
create table sale (article integer, day integer, count integer);
with recursive n(k) as (select 1 union all select k + 1 from n where k < 4000)
  insert into article select k, 'article-' || k, k % 97 + 0.5 from n;
with recursive n(k) as (select 1 union all select k + 1 from n where k < 100000)
  insert into sale select k * 7919 % 4000 + 1, k % 365, k % 5 + 1 from n;
`;
const question = `pragma automatic_index = 0;
select count(*), sum(total) from (
  select number, (select sum(count) from sale where sale.article = article.number) * price as total
  from article where number % 10 = 0);
`;

export const twelfthBatchMore: readonly Program[] = [
  {
    name: 'rust-progress-of-all',
    language: 'Rust',
    kind: 'numerics',
    needs: ['rustc'],
    packages: ['rustc'],
    prepare: `${heredoc('primes.rs', primes)}rustc -O -g primes.rs`,
    run: sh('./primes 0'),
    fixed: sh('./primes 1'),
    registered: {
      on,
      cause: 'two threads add to the same two counters for each number',
      kinds: ['sharing'],
      subject: /count|progress|looked|fetch_add/i,
      fix: 'once in 4,096 numbers',
    },
  },
  {
    name: 'go-goroutine-each-pixel',
    language: 'Go',
    kind: 'image tool',
    needs: ['go'],
    packages: ['golang-go'],
    prepare: `${heredoc('shades.go', shades)}go build shades.go`,
    run: sh('./shades 0'),
    fixed: sh('./shades 1'),
    registered: {
      on,
      cause: 'a goroutine is started for each pixel, which is a sine and a root',
      kinds: ['overhead'],
      subject: /main|newproc|goroutine|func/i,
      fix: 'for each row',
    },
  },
  {
    name: 'node-copies-by-json',
    language: 'JavaScript',
    kind: 'shop',
    needs: ['node'],
    packages: ['nodejs'],
    prepare: heredoc('carts.js', carts),
    run: sh('node carts.js 0'),
    fixed: sh('node carts.js 1'),
    registered: {
      on,
      cause: 'each rule gets a copy of the cart, made by way of JSON',
      kinds: ['serial', 'optimize', 'overhead'],
      subject: /json|stringif|parse|serializ/i,
      fix: 'the cart itself',
    },
  },
  {
    name: 'find-exec-each',
    language: 'C, processes',
    kind: 'shell',
    needs: ['find', 'sha1sum'],
    packages: ['findutils', 'coreutils'],
    prepare: 'mkdir tree; for k in $(seq 1 800); do echo "file $k" > tree/$k; done',
    run: sh("find tree -type f -exec sha1sum {} ';'"),
    fixed: sh("find tree -type f -exec sha1sum {} '+'"),
    registered: {
      on,
      cause: 'a process is started for each file',
      kinds: ['overhead', 'io', 'kernel'],
      subject: /process|fork|child|start/i,
      fix: 'one process for many files',
    },
  },
  {
    name: 'sqlite3-without-index',
    language: 'C',
    kind: 'database',
    needs: ['sqlite3'],
    packages: ['sqlite3'],
    prepare: `${heredoc('stock.sql', stock)}${heredoc('question.sql', question)}sqlite3 plain.db < stock.sql
cp plain.db indexed.db; sqlite3 indexed.db 'create index of_article on sale (article)'`,
    run: { argv: ['sh', '-c', 'exec sqlite3 plain.db < question.sql'] },
    fixed: { argv: ['sh', '-c', 'exec sqlite3 indexed.db < question.sql'] },
    registered: {
      on,
      cause: 'all sales are read for each article, in one thread',
      kinds: ['serial', 'optimize', 'starvation'],
      subject: /sqlite|step|Vdbe|Btree/i,
      fix: 'an index',
    },
  },
];
