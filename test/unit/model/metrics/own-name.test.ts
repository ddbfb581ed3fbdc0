/** Names of C++ procedures that are lambdas, or templates that run them. */
import test from 'ava';
import { ownName } from '../../../../ts-frontend/src/model/metrics/own-name.js';

for (const [name, shown] of [
  ['main::{lambda()#1}::operator()', 'main::{lambda()#1}'],
  ['main::{lambda(void (*)(int))#1}::operator()(void (*)(int)) const', 'main::{lambda(void (*)(int))#1}'],
  [
    'main::{lambda()#1}::operator()() const::{lambda(std::pair<int, double>&)#1}::operator()',
    'main::{lambda()#1}::{lambda(std::pair<int, double>&)#1}',
  ],
  ['main::{lambda()#1}::operator()() const::Local::run', 'main::{lambda()#1}::operator()() const::Local::run'],
  [
    'std::thread::_State_impl<std::thread::_Invoker<std::tuple<f()::{lambda()#1}::operator()() const::{lambda()#2}>' +
      ' > >::_M_run',
    'f()::{lambda()#1}::{lambda()#2}',
  ],
  ['qz::scope::spawn<main::{lambda()#1}>(main::{lambda()#1}&&)::{lambda(void*)#1}::_FUN', 'main::{lambda()#1}'],
  [
    'qz::parallel_for<long, f()::{lambda()#1}::operator()() const::{lambda(long)#1}>(long)::{lambda(void*)#1}::_FUN',
    'f()::{lambda()#1}::{lambda(long)#1}',
  ],
  ['Table::operator()', 'Table::operator()'],
] as const)
  test(`${name} is called ${shown}`, (t) => {
    t.is(ownName(name), shown);
  });
