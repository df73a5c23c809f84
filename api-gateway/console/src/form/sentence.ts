import { fieldsByName } from './fields.ts'

const FIRST_WORD = /^[a-z]+(?![\w.:/[])/

/** A message with a capital letter. The name of an option at its beginning stays as the form shows it. */
export const toSentence = (text: string): string =>
  text.replace(FIRST_WORD, (word) => (word === 'url' || fieldsByName.has(word) ? word : word[0]?.toUpperCase() + word.slice(1)))
