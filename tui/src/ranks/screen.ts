/** The map of ranks as a content of the terminal. It closes to quit, or to show the screen of a rank (`opened`). */
import { item } from '../../../ts-frontend/src/model/index.js';
import { farthest } from '../../../ts-frontend/src/sets/heat.js';
import type { Canvas } from '../draw/canvas.js';
import type { Glyphs } from '../draw/glyphs.js';
import type { MouseEvent } from '../mouse.js';
import type { Size } from '../state/types.js';
import type { Content, Request } from '../terminal.js';
import { cellAt, placesOf, rankMap, selectedMembers } from './map.js';
import { initialRanks, inside, moved, rankKeyOf, type RankScene, type RankState } from './state.js';

export class RankScreen implements Content {
  #state: RankState;
  /** The member whose screen the user requested when the map closed; null: none. */
  opened: number | null = null;
  readonly urgent = false;

  constructor(readonly scene: RankScene) {
    this.#state = initialRanks(scene);
  }

  refresh(): boolean {
    return false; // a set does not change, so there is never anything new
  }
  paced(): boolean {
    return false;
  }
  draw(size: Size, glyphs: Glyphs): Canvas {
    return rankMap(this.scene, size, this.#state, glyphs);
  }
  say(text: string): void {
    this.#state = { ...this.#state, message: text };
  }
  edit(): string {
    return '';
  }

  key(full: string, char: string | undefined, size: Size): Request | null {
    this.opened = null;
    this.say('');
    const binding = rankKeyOf(full) ?? (char === undefined ? undefined : rankKeyOf(char));
    if (this.#state.help && binding?.effect !== 'quit') {
      this.#state = { ...this.#state, help: false };
      return null;
    }
    if (binding?.effect === 'quit') return 'close';
    if (binding?.effect === 'redraw') return 'redraw';
    if (this.scene.rows.length === 0 && binding?.shown !== '?') return null;
    if (binding?.effect === 'enter') return this.#enter(size);
    if (binding?.change === undefined) return null;
    const { columns, rows } = placesOf(this.scene, size, this.#state);
    this.#state = binding.change(this.scene, this.#state, columns[0]?.length ?? 1, rows);
    return null;
  }

  /** A click selects a rank; a click on the selected one opens it. */
  mouse({ action, x, y }: MouseEvent, size: Size): void {
    if (this.scene.rows.length === 0) return;
    const by = action === 'wheelup' ? -1 : action === 'wheeldown' ? 1 : 0;
    const cell = action === 'mousedown' ? cellAt(this.scene, size, this.#state, x, y) : null;
    if (by !== 0) this.#state = moved(this.scene, this.#state, { row: this.#state.row + by });
    else if (cell !== null) this.#state = moved(this.scene, this.#state, cell);
  }

  #enter(size: Size): Request | null {
    const members = selectedMembers(placesOf(this.scene, size, this.#state), this.#state);
    const member = farthest(item(this.scene.rows, this.#state.row), members);
    if (members.length > 1) {
      this.#state = inside(this.#state, members, member);
      return null;
    }
    this.opened = member;
    return 'close';
  }
}
