/**
 * The rest of the eleventh batch: programs of Debian.
 */
import { heredoc, sh, text } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-24, eleventh batch';
const melt = `units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 14 0 14 0 14
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify \${how}
fix 1 all nve
thermo 100
run 150
`;
const heat = `% Heat spreads in a plate: each point by itself; with 1, all points at once.
quick = strcmp(argv(){end}, '1');
plate = zeros(180, 180);
plate(1, :) = 100;
for step = 1:8
  next = plate;
  if quick
    next(2:end-1, 2:end-1) = (plate(1:end-2, 2:end-1) + plate(3:end, 2:end-1) + ...
                              plate(2:end-1, 1:end-2) + plate(2:end-1, 3:end)) / 4;
  else
    for i = 2:rows(plate)-1
      for j = 2:columns(plate)-1
        next(i, j) = (plate(i-1, j) + plate(i+1, j) + plate(i, j-1) + plate(i, j+1)) / 4;
      end
    end
  end
  plate = next;
end
printf('%.6f\\n', sum(plate(:)));
`;
const lmp = (how: string): Program['run'] => ({
  argv: ['lmp', '-in', 'in.melt', '-log', 'none', '-screen', 'none', '-var', 'how', how],
  env: { OMP_NUM_THREADS: '1' },
});

export const eleventhBatchDebian: readonly Program[] = [
  {
    name: 'lammps-neighbors-each-step',
    language: 'C++',
    kind: 'molecular dynamics',
    needs: ['lmp'],
    packages: ['lammps'],
    prepare: heredoc('in.melt', melt),
    run: lmp('every 1 delay 0 check no'),
    fixed: lmp('every 20 delay 0 check no'),
    registered: {
      on,
      cause: 'the lists of neighbours are built in each step',
      kinds: ['serial', 'optimize', 'starvation'],
      subject: /neigh|NPair|NBin/i,
      fix: 'in each twentieth',
    },
  },
  {
    name: 'octave-point-by-point',
    language: 'Octave, C++',
    kind: 'numerics',
    needs: ['octave-cli'],
    packages: ['octave'],
    prepare: heredoc('heat.m', heat),
    run: sh('octave-cli -q --no-init-file heat.m 0'),
    fixed: sh('octave-cli -q --no-init-file heat.m 1'),
    registered: {
      on,
      cause: 'the interpreter evaluates each point by itself, in one thread',
      kinds: ['serial', 'optimize', 'starvation'],
      subject: /octave|tree_|evaluat|interp|index/i,
      fix: 'whole matrices',
    },
  },
  {
    name: 'qemu-img-one-coroutine',
    language: 'C',
    kind: 'converter',
    needs: ['qemu-img'],
    packages: ['qemu-utils'],
    prepare: `${text}; cat text text > disk.raw; truncate -s 96M disk.raw; rm text`,
    run: sh('qemu-img convert -m 1 -c -O qcow2 disk.raw disk.qcow2'),
    fixed: sh('qemu-img convert -m 8 -W -c -O qcow2 disk.raw disk.qcow2'),
    registered: {
      on,
      cause: 'one cluster at a time is compressed, by one thread of the pool',
      kinds: ['serial', 'starvation'],
      subject: /deflate|libz|compress|worker|thread|qemu/i,
      fix: 'eight coroutines, in any order',
      spreads: true,
    },
  },
  {
    name: 'tar-into-gzip',
    language: 'C, processes',
    kind: 'archiver',
    needs: ['tar', 'gzip', 'pigz'],
    packages: ['tar', 'gzip', 'pigz'],
    prepare: `${text}; split -b 500000 text part-; mkdir tree; mv part-* tree; rm text`,
    run: { argv: ['sh', '-c', 'tar cf - tree | gzip -9 > out.tar.gz'] },
    fixed: { argv: ['sh', '-c', 'tar cf - tree | pigz -9 -p 2 > out.tar.gz'] },
    registered: {
      on,
      cause: 'gzip compresses in one thread; tar waits until it reads more',
      kinds: ['serial', 'optimize', 'starvation'],
      subject: /gzip|deflate|longest_match/i,
      fix: 'pigz with two threads',
      spreads: true,
    },
  },
];
