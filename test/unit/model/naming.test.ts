/** Names of threads of the C++ library: by what they run, if their type shows it. */
import test from 'ava';
import { buildModel } from '../../../ts-frontend/src/model/index.js';
import { ProfileBuilder as Builder, run } from '../../support/profile-builder.js';

const thread = (what: string): string =>
  `std::thread::_State_impl<std::thread::_Invoker<std::tuple<${what}> > >::_M_run`;
const future = (what: string): string =>
  `std::__future_base::_Async_state_impl<std::thread::_Invoker<std::tuple<${what}> >, long>::_M_run`;

for (const [linkage, shown] of [
  [thread('Job<int, long>, int'), 'Job<int, long>'],
  [thread('Worker, int'), 'Worker'],
  [thread('void (*)(int, long), int, long'), 'std::thread(void (*)(int, long))'],
  [thread('void (Worker::*)(), Worker*'), 'std::thread(void (Worker::*)())'],
  [future('long (*)(int), int'), 'std::async(long (*)(int))'],
] as const)
  test(`${shown} runs as a thread`, (t) => {
    const model = buildModel(new Builder({ processors: 2 }).stretch(1e9, [run('main', [linkage])]).build());
    t.true(
      model.entities.some(({ kind, name }) => kind === 'procedure' && name === shown),
      model.entities.map(({ name }) => name).join('\n'),
    );
  });
