/** The entity that a name on the command line means; what is said where it means none, or several. */
import test from 'ava';
import { find } from '../../../ts-frontend/src/cli/show/find.js';
import { item } from '../../../ts-frontend/src/model/index.js';
import { buildModel } from '../../../ts-frontend/src/model/index.js';
import { ProfileBuilder, run, wait } from '../../support/profile-builder.js';

const model = buildModel(
  new ProfileBuilder({ processors: 4 })
    .stretch(1e9, [
      run('worker', ['main', 'queue']),
      wait('other', ['main', 'push', 'mutex:queue']),
      wait('third', ['main', 'pop_front', 'mutex:front lock']),
    ])
    .stretch(2e9, [run('worker', ['main', 'pop_back'])])
    .build(),
);
const found = (name: string): string => {
  const { kind, name: its } = item(model.entities, find(model, name));
  return `${kind} ${its}`;
};

const meant = {
  pop_back: 'procedure pop_back',
  'procedure queue': 'procedure queue',
  'lock queue': 'lock queue',
  'lock front lock': 'lock front lock',
  'thread other': 'thread other',
  pus: 'procedure push', // a part that one name has
  'front l': 'lock front lock',
  back: 'procedure pop_back',
} as const;
for (const [name, what] of Object.entries(meant))
  test(`"${name}" is the ${what}`, (t) => {
    t.is(found(name), what);
  });

test('a name that two have: the one with more time; their kinds distinguish them', (t) => {
  t.regex(found('queue'), /^(procedure|lock) queue$/);
  t.not(find(model, 'procedure queue'), find(model, 'lock queue'));
});

const refused = {
  pop_bakc: /^nothing in this profile is called "pop_bakc"; did you mean "?pop_back"?/,
  xyzzy: /^nothing in this profile is called "xyzzy"; "quartz report" and "quartz threads" list the names$/,
  'lock pop_back': /^nothing in this profile is called "lock pop_back"; /,
  pop: /^"pop" is part of 2 names; say which: "procedure pop_\w+", "procedure pop_\w+"$/,
  '': /^"" is part of \d+ names; say which: ("[^"]+", ){5}\.\.\.$/,
} as const;
for (const [name, why] of Object.entries(refused))
  test(`"${name}" is refused, with what to do`, (t) => {
    t.regex(t.throws(() => find(model, name)).message, why);
  });
