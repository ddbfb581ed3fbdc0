/** A statement, and advice on it; `remedy` may be empty. */
export interface NoticeSentences {
  reason: string;
  remedy: string;
}
