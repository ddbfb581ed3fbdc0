/** Access to the page's elements, which document.ts creates. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element;
}

/** Replaces the contents of an element by SVG or HTML. The functions that create the markup have escaped all names. */
export function draw(into: HTMLElement, markup: string): void {
  into.innerHTML = markup;
}
