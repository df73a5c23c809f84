import { z } from 'zod'
import { option } from '../rules/option-rules.ts'
import { statusRanges } from '../rules/status-ranges.ts'
import { pageTexts, selectors, urlPatterns } from './texts.ts'

/** Conditions that fail a capture. */
export const failingOptions = {
  failOnStatus: option(
    { links: 'yes', picture: 'separate' },
    statusRanges().describe('HTTP statuses of the page that fail the capture, such as 404 or 500-511, at most 20. Default: none.'),
  ),
  failIfContentContains: option(
    { links: 'yes', picture: 'separate' },
    pageTexts(20, 'Texts that fail the capture if the page shows one of them, at most 20. Default: none.'),
  ),
  failIfContentMissing: option(
    { links: 'yes', picture: 'separate' },
    pageTexts(20, 'Texts that fail the capture if one of them is missing from the page, at most 20. Default: none.'),
  ),
  failIfSelectorPresent: option(
    { links: 'yes', picture: 'separate' },
    selectors(20, 'CSS selectors that fail the capture if an element matches one of them, at most 20. Default: none.'),
  ),
  failIfRequestFailed: option(
    { links: 'yes', picture: 'separate' },
    urlPatterns(20, 'URL patterns of requests whose failure fails the capture, at most 20; * matches any text. Default: none.'),
  ),
  failOnScriptError: option(
    { links: 'yes', picture: 'separate' },
    z
      .boolean()
      .describe(
        'Fails the capture if scripts throws an error; if false, the record has a warning. A syntax error always fails the capture. Default: true.',
      ),
  ),
  failOnRedirect: option(
    { links: 'yes', picture: 'separate' },
    z
      .enum(['never', 'cross_site', 'always'])
      .describe('Whether a redirect to another URL fails the capture: never, cross_site or always. Default: never.'),
  ),
  failOnPageError: option(
    { links: 'yes', picture: 'separate' },
    z.boolean().describe('Fails the capture if a script of the page throws an uncaught error. Default: false.'),
  ),
  failOnBotChallenge: option(
    { links: 'yes', picture: 'separate' },
    z.boolean().describe('Fails the capture if the site shows a bot challenge. Default: false.'),
  ),
}

export const failingDefaults = {
  failOnScriptError: true,
  failOnRedirect: 'never' as 'never' | 'cross_site' | 'always',
  failOnPageError: false,
  failOnBotChallenge: false,
}
