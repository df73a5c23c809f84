import { choice, group, off, on, SEPARATE } from '../rules/declare.ts'
import { statusRanges } from '../rules/status-ranges.ts'
import { pageTexts, selectors, urlPatterns } from './texts.ts'

/** Conditions that fail a capture. */
export const failingGroup = group('Failure conditions', SEPARATE, {
  failOnStatus: statusRanges({ example: ['404', '500-599'] })('HTTP statuses of the page that fail the capture, such as 404 or 500-511.'),
  failIfContentContains: pageTexts(20, { example: ['Access denied'] })('Texts that fail the capture if the page shows one of them.'),
  failIfContentMissing: pageTexts(20, { example: ['Add to basket'] })(
    'Texts that fail the capture if one of them is missing from the page.',
  ),
  failIfSelectorPresent: selectors(20, { example: ['.captcha'] })('CSS selectors that fail the capture if an element matches one of them.'),
  failIfRequestFailed: urlPatterns(20, { example: ['*://*/app.js'] })(
    'URL patterns of requests whose failure fails the capture; * matches any text.',
  ),
  failOnScriptError: on(
    'Fails the capture if scripts throws an error; if false, the record has a warning. A syntax error always fails the capture.',
  ),
  failOnRedirect: choice(['never', 'cross_site', 'always'], { default: 'never' })(
    'Whether a redirect to another URL fails the capture: never, cross_site or always.',
  ),
  failOnPageError: off('Fails the capture if a script of the page throws an uncaught error.'),
  failOnBotChallenge: off('Fails the capture if the site shows a bot challenge.'),
})
