import { z } from 'zod'

/** Items of a comma-separated list, without the blanks around them; empty items are dropped. */
export const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** An environment variable that holds a comma-separated list; absent: no items. */
export const CommaList = z.string().default('').transform(splitList)
