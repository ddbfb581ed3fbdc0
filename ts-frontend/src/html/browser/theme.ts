/** Light or dark: the system's preference until the user presses the button. Nothing is stored. */
import { byId } from './elements.js';

export function theme(): void {
  const button = byId('theme');
  const chosen = document.documentElement.dataset;
  const preferred = matchMedia('(prefers-color-scheme: dark)');
  const isDark = (): boolean => (chosen['theme'] === undefined ? preferred.matches : chosen['theme'] === 'dark');
  const show = (): void => {
    button.textContent = isDark() ? 'Light' : 'Dark';
  };
  show();
  preferred.addEventListener('change', show);
  button.addEventListener('click', () => {
    chosen['theme'] = isDark() ? 'light' : 'dark';
    show();
  });
  button.hidden = false;
}
