/** Numbers as the model's notices write them, too: one definition. */
export * from '../../model/wording/numbers.js';
