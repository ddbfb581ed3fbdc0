/** Draws Figure 1 of the entity that the reader selects. */
import type { PageData } from '../data/page-data.js';
import { figureLegend, figureSvg } from '../drawing/figure.js';
import { byId, draw } from './elements.js';

export function figureOfAny(data: PageData): void {
  if (data.figures.length === 0) return;
  const select = byId('entity') as HTMLSelectElement;
  data.figures.forEach(({ entity }, at) => {
    select.add(new Option(data.entities[entity]?.name ?? '?', String(at)));
  });
  const show = (): void => {
    const figure = data.figures[Number(select.value)];
    if (figure !== undefined)
      draw(byId('figures'), `<figure>${figureSvg(data, figure)}</figure>${figureLegend(data, figure)}`);
  };
  select.addEventListener('change', show);
  byId('figure-controls').hidden = false;
  show();
}
