/** Names in few columns: readable, and no two of them alike. */
import test from 'ava';
import { buildModel, type Model } from '../../../ts-frontend/src/model/index.js';
import { briefly, formsOf, shortName, withoutModules } from '../../../ts-frontend/src/render/wording/short-names.js';
import { ProfileBuilder, run } from '../../support/profile-builder.js';

/** A model of procedures with these names. */
function modelOf(...names: string[]): Model {
  const model = buildModel(
    names
      .reduce(
        (builder, _, k) => builder.stretch(1e6, [run('t', [`procedure_${k}`])]),
        new ProfileBuilder({ processors: 1 }),
      )
      .build(),
  );
  names.forEach((name, k) => {
    model.entities.find((entity) => entity.name === `procedure_${k}`)!.name = name;
  });
  return model;
}
const unicode = { ascii: false };

test('template arguments go before anything else, the inner ones first', (t) => {
  const name = 'shop::Ledger<std::map<int, shop::Entry>, std::less<int>>::insert';
  const model = modelOf(name);
  t.is(shortName(model, name, 100, unicode), name);
  t.is(shortName(model, name, 50, unicode), 'shop::Ledger<std::map<…>, std::less<…>>::insert');
  t.is(shortName(model, name, 30, unicode), 'shop::Ledger<…>::insert');
  t.is(shortName(model, name, 20, unicode), '…::Ledger<…>::insert');
  t.is(shortName(model, name, 10, unicode), '…::insert');
  t.is(shortName(model, name, 30, { ascii: true }), 'shop::Ledger<..>::insert');
});

test('a name of three hundred characters is shown in fifty columns', (t) => {
  const name =
    `std::_Function_handler<void (${'std::vector<std::pair<int, long>>, '.repeat(8)}int), ` +
    'app::Server::run()::{lambda(int, std::function<void (int)>)#2}>::_M_invoke';
  const model = modelOf(name);
  t.true(name.length > 300);
  t.is(shortName(model, name, 50, unicode), 'std::_Function_handler<…>::_M_invoke');
});

test('what distinguishes two names stays', (t) => {
  const [ints, texts] = [
    'sort<std::vector<int>, std::less<int>>::run',
    'sort<std::vector<std::string>, std::less<int>>::run',
  ];
  const lambdas = ['crew::main::{lambda(int)#1}', 'crew::main::{lambda(long)#1}'];
  const files = ['mutex at worker_pool_of_the_server.c:7', 'mutex at worker_pool_of_the_client.c:7'];
  const model = modelOf(ints, texts, ...lambdas, ...files);
  for (const columns of [24, 30, 40]) {
    for (const [a, b] of [[ints, texts], lambdas, files] as [string, string][]) {
      const [one, other] = [shortName(model, a, columns, unicode), shortName(model, b, columns, unicode)];
      t.true(one.length <= columns && other.length <= columns);
      t.not(one, other, `${columns} columns`);
    }
  }
});

test('the file of a place is whole as long as it fits', (t) => {
  const name = 'rwlock at long_name_of_a_file.c:123';
  const model = modelOf(name);
  t.is(shortName(model, name, 33, unicode), 'rwlock long_name_of_a_file.c:123');
  t.is(shortName(model, name, 26, unicode), 'long_name_of_a_file.c:123');
});

test('names of C and Rust, and operators', (t) => {
  t.deepEqual(formsOf('plain_name'), ['plain_name']);
  t.deepEqual(formsOf('<alloc::vec::Vec<T> as core::Clone>::clone'), [
    '<alloc::vec::Vec<T> as core::Clone>::clone',
    '<alloc::vec::Vec<…> as core::Clone>::clone',
    '…::clone',
  ]);
  t.is(formsOf('ns::operator<< <Big<int>, fn() -> T>').at(-2), 'ns::operator<< <…>');
  t.is(
    formsOf('std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append')[1],
    'std::string::append',
  );
});

test('long names are shown without their template arguments', (t) => {
  const long = 'x'.repeat(80);
  t.is(briefly('Queue<int>::push'), 'Queue<int>::push');
  t.is(briefly(`std::_Function_handler<A<B> (), ${long}>::_M_invoke`), 'std::_Function_handler<…>::_M_invoke');
  t.is(briefly(`operator<< <${long}, fn() -> T>`), 'operator<< <…>');
  t.is(briefly(`Box<${long}>::operator->`), 'Box<…>::operator->');
  const closures = '::{{closure}}'.repeat(4);
  t.is(briefly(`editdist::main${closures}`), 'editdist::main::{{closure ×4}}');
});

test('a lambda is named by its place, or by the first and the last of those it lies in', (t) => {
  const inner = 'shop::sell::{lambda}::{lambda}::{lambda}';
  const served = 'shop::Counter::serve(int)::{lambda(int)}';
  const model = buildModel(
    new ProfileBuilder({ processors: 1 })
      .describe(served, { file: '/home/me/counter.cc', line: 19 })
      .stretch(1e6, [run('t', [served, inner, 'shop::sell::{lambda}::{lambda}'])])
      .build(),
  );
  t.is(shortName(model, served, 30, unicode), '{lambda} counter.cc:19');
  t.is(shortName(model, inner, 35, unicode), 'shop::sell::{lambda}::…::{lambda}');
});

test('a loop stays one, by its place or offset', (t) => {
  t.deepEqual(formsOf('loop at solver.c:12'), ['loop at solver.c:12', 'loop solver.c:12']);
  t.deepEqual(formsOf('loop at libz.so.1.2.13+0x3817'), [
    'loop at libz.so.1.2.13+0x3817',
    'loop libz.so.1.2.13+0x3817',
    'loop …+0x3817',
  ]);
});

test("objects of Rust's library have the names of its public procedures, without modules", (t) => {
  for (const [name, short] of [
    ['std::sys::sync::mutex::futex::Mutex::lock_contended at jobs.rs:7', 'Mutex::lock at jobs.rs:7'],
    ['std::sys::pal::unix::sync::condvar::Condvar::wait_timeout at a.rs:1', 'Condvar::wait at a.rs:1'],
    ['std::sys::sync::rwlock::futex::RwLock::read_contended', 'RwLock::read'],
    ['std::sync::mpmc::Sender<T>::send at rs.rs:6', 'Sender::send at rs.rs:6'],
    ['std::latch::wait at a.cc:3', 'std::latch::wait at a.cc:3'],
    ['std::atomic<int>::wait at a.cc:3', 'std::atomic<int>::wait at a.cc:3'],
    ['jobs::Mutex::lock_contended at jobs.rs:7', 'jobs::Mutex::lock_contended at jobs.rs:7'],
  ] as const)
    t.is(withoutModules(name), short);
});
