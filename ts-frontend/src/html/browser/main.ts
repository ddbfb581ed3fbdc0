/** The page's script: what needs one. Without it the page is readable, and these controls are hidden. */
import type { PageData } from '../data/page-data.js';
import { byId } from './elements.js';
import { figureOfAny } from './figure.js';
import { flameGraph } from './flame.js';
import { theme } from './theme.js';

const data = JSON.parse(byId('data').textContent ?? '') as PageData;
theme();
flameGraph(data);
figureOfAny(data);
