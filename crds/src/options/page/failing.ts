import { z } from 'zod'
import { addressPatterns, pageWords, selectors } from './texts.ts'

/** True for a status, and for a range that holds one: `404`, `500-511`. */
export const isStatusRange = (text: string): boolean => {
  const [from = 0, to = from] = text.split('-').map(Number)
  return from <= to
}

/** When a capture counts as failed. */
export const failingOptions = {
  failOnStatus: z
    .array(
      z
        .string()
        .max(7)
        .regex(/^[1-5][0-9]{2}(-[1-5][0-9]{2})?$/),
    )
    .max(20)
    .describe('Statuses of the page’s answer that fail the capture, as 404 or 500-511, at most 20. Default: none.'),
  failIfContentContains: pageWords(20, 'Words that fail the capture when the page shows one of them, at most 20. Default: none.'),
  failIfContentMissing: pageWords(20, 'Words that fail the capture when the page does not show one of them, at most 20. Default: none.'),
  failIfSelectorPresent: selectors(
    20,
    'CSS selectors that fail the capture when an element matches one of them, at most 20. Default: none.',
  ),
  failIfRequestFailed: addressPatterns(
    20,
    'Patterns of addresses; the capture fails when a request to one of them failed, at most 20; * stands for anything. Default: none.',
  ),
  failOnScriptError: z
    .boolean()
    .describe(
      'Fails the capture when scripts throws; else the picture is taken with a warning. A syntax error always fails the capture. Default: true.',
    ),
  failOnRedirect: z
    .enum(['never', 'cross_site', 'always'])
    .describe('Fails the capture when the page ends at another address: never, cross_site or always. Default: never.'),
  failOnPageError: z.boolean().describe('Fails the capture when a script of the page throws and nothing catches it. Default: false.'),
  failOnBotChallenge: z
    .boolean()
    .describe('Fails the capture when the site shows a challenge to visitors that it takes for programs. Default: false.'),
}

export const failingDefaults = {
  failOnScriptError: true,
  failOnRedirect: 'never' as 'never' | 'cross_site' | 'always',
  failOnPageError: false,
  failOnBotChallenge: false,
}
