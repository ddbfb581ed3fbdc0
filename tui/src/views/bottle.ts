/**
 * Bottle graph (Du Bois et al., OOPSLA 2013): a box for each entity, as high as its normalized processor time and as
 * wide as its parallelism, the widest at the bottom. For procedures, boxes show self time, so that the heights add up.
 */
import { item } from '../../../ts-frontend/src/model/index.js';
import { shortName } from '../../../ts-frontend/src/render/wording/short-names.js';
import { Canvas, Colour, whole } from '../draw/canvas.js';
import type { Glyphs } from '../draw/glyphs.js';
import type { Entity, Model } from '../../../ts-frontend/src/model/index.js';
import type { Scene, Size, State } from '../state/types.js';
import { digits, percent, time } from '../draw/format.js';

interface Box {
  entity: Entity;
  height: number;
  width: number;
  selected: boolean;
}
const shades = [Colour.blue, Colour.cyan, Colour.green, Colour.magenta, Colour.yellow];

function boxes(model: Model, of: State['bottleOf']): Box[] {
  const kind = of === 'threads' ? 'thread' : of === 'locks' ? 'lock' : 'procedure';
  return model.ranking
    .map((id) => item(model.entities, id))
    .filter((entity) => entity.kind === kind)
    .map((entity) => {
      const own = of === 'procedures';
      const height = own ? entity.nptSelfNs : entity.nptNs;
      const work = own ? entity.processorTimeSelfNs : entity.processorTimeNs;
      return { entity, height, width: height > 0 ? work / height : 0, selected: false };
    })
    .filter((box) => box.height > 0);
}

export function bottle(scene: Scene, size: Size, state: State, selected: number, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const { model } = scene;
  const end = canvas.text(0, 0, `bottle graph of ${state.bottleOf}`, { bold: true });
  canvas.text(
    end + 2,
    0,
    whole(
      [
        `height: NPT${state.bottleOf === 'procedures' ? ' (self)' : ''}`,
        ', width: parallelism',
        `, of ${model.processors}`,
        '; b: others',
      ],
      canvas.width - end - 2,
    ),
  );
  const all = boxes(model, state.bottleOf);
  if (all.length === 0) {
    canvas.text(
      0,
      2,
      state.bottleOf === 'locks' ? 'no lock was held or waited for while a snapshot was taken' : 'nothing ran yet',
    );
    return canvas;
  }
  const rows = size.height - 3;
  const total = all.reduce((sum, box) => sum + box.height, 0);
  // Boxes that are too low for a line of their own are summarized.
  const drawn = all.filter((box) => (box.height / total) * rows >= 0.75).sort((a, b) => a.width - b.width);
  const rest = total - drawn.reduce((sum, box) => sum + box.height, 0);
  const label = Math.min(44, Math.floor(size.width * 0.45));
  const room = size.width - label - 2;
  let y = 1;
  if (rest > 0 && all.length > drawn.length && rows > drawn.length)
    canvas.text(room + 2, y++, `${all.length - drawn.length} smaller, ${time(rest)}`, { fg: Colour.grey });
  drawn.forEach((box, index) => {
    const height = Math.max(1, Math.round((box.height / total) * (rows - (rest > 0 ? 1 : 0))));
    const width = Math.max(1, Math.round((box.width / model.processors) * room));
    const left = Math.floor((room - width) / 2);
    const mine = box.entity.id === selected;
    for (let row = 0; row < height && y < size.height - 1; row++, y++) {
      const glyph = item(glyphs.boxes, index % 2);
      canvas.fill(left, y, width, 1, mine ? glyphs.selected : glyph, { fg: item(shades, index % shades.length) });
      if (row === height >> 1) {
        const facts = whole([`${percent(box.height / total).padStart(6)} `, `par ${digits(box.width)} `], label - 10);
        canvas.text(
          room + 2,
          y,
          facts + shortName(model, box.entity.name, label - facts.length, glyphs),
          mine ? { inverse: true } : {},
        );
      }
    }
  });
  canvas.text(
    0,
    size.height - 1,
    whole([`sum of heights ${time(total)}`, ' = time during which something ran'], canvas.width),
  );
  return canvas;
}
