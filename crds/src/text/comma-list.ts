import { z } from 'zod'

/** Splits a comma-separated list, trims the items and drops empty ones. */
export const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** An environment variable with a comma-separated list; empty if absent. */
export const CommaList = z.string().default('').transform(splitList)
