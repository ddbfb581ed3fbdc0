/** What is so, and what to do about it; `remedy` may be empty. */
export interface NoticeSentences {
  reason: string;
  remedy: string;
}
