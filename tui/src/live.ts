/**
 * The live screen as a content of the terminal: the effects of keys and mouse on its state and on the watched
 * recording.
 */
import { Canvas } from './draw/canvas.js';
import type { Glyphs } from './draw/glyphs.js';
import { edit } from './editor.js';
import { bodyOf, frame, pageOf, settled } from './frame.js';
import { pointed, type MouseEvent } from './mouse.js';
import type { Watch } from './session.js';
import { bindingOf, editing, type Effect } from './state/keys.js';
import { initialState, reduce, selectedEntity } from './state/state.js';
import type { Action, Size, State } from './state/types.js';
import type { Content, Request } from './terminal.js';
import { helpPages } from './views/help.js';

export class LiveScreen implements Content {
  #state: State = initialState();
  #asking = false; // whether the user is being asked to confirm that the program is to be ended

  /** `owned`: the program was started for this screen and ends with it. */
  constructor(
    readonly watch: Watch,
    readonly owned: boolean,
  ) {}

  refresh(): boolean {
    return this.watch.refresh();
  }
  paced(ms: number): boolean {
    const seconds = Math.round(ms / 1000),
      refreshSeconds = seconds < 2 ? null : seconds;
    if (refreshSeconds === this.#state.refreshSeconds) return false;
    this.#state = { ...this.#state, refreshSeconds };
    return true;
  }
  get urgent(): boolean {
    return this.watch.hasEnded;
  }

  draw(size: Size, glyphs: Glyphs): Canvas {
    const scene = this.watch.update(this.#state);
    if (scene === null) {
      const canvas = new Canvas(size.width, size.height);
      canvas.text(0, 0, 'waiting for the first snapshot ...   q quits');
      return canvas;
    }
    if (this.#state.tab === 'source') {
      const id = selectedEntity(this.#state, scene);
      if (this.#state.disassembly) this.watch.showCode(id);
      else this.watch.showSource(scene.model.entities[id]?.file ?? '');
    }
    const shown = this.watch.scene ?? scene;
    this.#state = settled(shown, size, this.#state);
    return frame(shown, size, this.#state, glyphs);
  }

  key(full: string, char: string | undefined, size: Size): Request | null {
    if (this.#state.editing !== null && full !== 'C-c') {
      const action = editing(this.#state.editing, char, full);
      if (action !== null) this.#apply(action);
      return null;
    }
    const binding = bindingOf(full) ?? (char === undefined ? undefined : bindingOf(char));
    if (this.#state.help > 0 && binding?.effect !== 'quit') {
      this.#apply(
        full === 'escape' ? { type: 'escape' } : { type: 'help', pages: helpPages(bodyOf(size), this.#state) },
      );
      return null;
    }
    if (this.#asking && binding?.effect !== 'quit') {
      this.#asking = false;
      this.say('');
      return null;
    }
    if (binding?.effect !== undefined) return this.#carryOut(binding.effect);
    if (binding?.action !== undefined) this.#apply(binding.action(pageOf(size, this.#state)));
    return null;
  }

  mouse(event: MouseEvent, size: Size): void {
    const { scene } = this.watch;
    const action = scene === null ? null : pointed(event, this.#state, scene, size);
    if (action !== null) this.#apply(action);
  }

  say(text: string): void {
    this.#apply({ type: 'message', text });
  }

  edit(): string {
    const entity = this.#selected();
    return entity === undefined ? '' : edit(entity);
  }

  #selected(): ReturnType<Watch['host']['build']>['entities'][number] | undefined {
    const { scene } = this.watch;
    return scene === null ? undefined : scene.model.entities[selectedEntity(this.#state, scene)];
  }

  #apply(action: Action): void {
    const { scene } = this.watch;
    if (scene !== null) this.#state = reduce(this.#state, action, scene);
  }

  #carryOut(effect: Effect): Request | null {
    switch (effect) {
      case 'quit':
        return this.#quit();
      case 'redraw':
        return 'redraw';
      case 'reset':
        this.watch.reset();
        this.#state = {
          ...this.#state,
          windowNs: null,
          message: this.watch.isReset ? 'counting from now; R again counts from the start' : 'counting from the start',
        };
        return null;
      case 'write':
        try {
          this.say(`written to ${this.watch.host.write()}`);
        } catch (error) {
          this.say((error as Error).message);
        }
        return null;
      case 'editor':
        if ((this.#selected()?.file ?? '') !== '') return 'editor';
        this.say('no source file is known for this');
        return null;
    }
  }

  #quit(): Request | null {
    const { scene } = this.watch;
    if (!this.owned || scene === null || scene.live.ended !== null || this.#asking) return 'close';
    this.#asking = true;
    this.say('the program still runs: q again ends it and keeps the profile; other keys continue');
    return null;
  }
}
