/** The page's script, for everything that needs one. Without it the page is readable, and its controls are hidden. */
import type { PageData } from '../data/page-data.js';
import { byId } from './elements.js';
import { figureOfAny } from './figure.js';
import { flameGraph } from './flame.js';
import { theme } from './theme.js';

const data = JSON.parse(byId('data').textContent ?? '') as PageData;
theme();
flameGraph(data);
figureOfAny(data);
