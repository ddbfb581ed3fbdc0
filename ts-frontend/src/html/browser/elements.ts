/** Elements of the page, which document.ts makes. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element;
}

/** Replaces what is in an element by drawn SVG or HTML, whose names are escaped where it is drawn. */
export function draw(into: HTMLElement, markup: string): void {
  into.innerHTML = markup;
}
