/** Light or dark: as the system has it, until the button is pressed. Nothing is stored. */
import { byId } from './elements.js';

export function theme(): void {
  const button = byId('theme');
  const preferred = matchMedia('(prefers-color-scheme: dark)');
  let dark = preferred.matches;
  const tell = (): void => {
    button.textContent = dark ? 'Light' : 'Dark';
  };
  tell();
  preferred.addEventListener('change', () => {
    if (document.documentElement.dataset['theme'] !== undefined) return;
    dark = preferred.matches;
    tell();
  });
  button.hidden = false;
  button.addEventListener('click', () => {
    dark = !dark;
    document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
    tell();
  });
}
