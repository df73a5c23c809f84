import { z } from 'zod'
import { withAsciiForm } from '../../text/ascii-form.ts'
import { declare, type Facts, formed, list } from './declare.ts'

// Texts that several options use. All have a maximum length, because Kubernetes objects store them.

const SELECTOR_LENGTH = 1024
const URL_LENGTH = 2048

const boundedText = (most: number) => z.string().min(1).max(most)

export const selector = (own: Facts<string>) => declare(boundedText(SELECTOR_LENGTH), { ...own, isSelector: true })

/** CSS selectors. */
export const selectors = (most: number, own: Facts<string[]>) => list(boundedText(SELECTOR_LENGTH), most, { ...own, isSelector: true })

const HTTP_URL = /^https?:\/\/[-A-Za-z0-9._:[\]]+([/?#][!-~]*)?$/
const HTTP_URL_FORM = 'must be a URL that begins with http:// or https://, in small letters, such as https://example.com/'
/** An http or https URL. */
export const httpUrl = (own: Facts<string>) => formed(URL_LENGTH, HTTP_URL, { ...own, form: withAsciiForm(HTTP_URL_FORM) })

const FileUrl = z
  .string()
  .max(URL_LENGTH)
  .regex(/^https?:\/\/[^\s/]+/, 'must be an http or https URL')
/** http or https URLs of files. */
export const httpUrls = (most: number, own: Facts<string[]>) => list(FileUrl, most, own)

const UrlPattern = boundedText(512).regex(/^[\x21-\x7e]+$/, withAsciiForm('must be printable ASCII without spaces'))
/** URL patterns: `*` matches any text. They are compared with URLs as browsers send them, which are ASCII. */
export const urlPatterns = (most: number, own: Facts<string[]>) => list(UrlPattern, most, own)

/** Texts to look for in a page. */
export const pageTexts = (most: number, own: Facts<string[]>) => list(boundedText(512), most, own)

const COLOR = /^(#[0-9A-Fa-f]{3,8}|[A-Za-z]+|[A-Za-z]+\([-0-9.,%/ A-Za-z]+\))$/
/** A CSS color: by name, by hexadecimal digits or by function. */
export const color = <Own extends Facts<string>>(own: Own) => formed(64, COLOR, own)

// Ranges of HTTP statuses in options, such as 404 and 500-511.

/** Maximum entries of a list. */
const MAX_RANGES = 20

const Range = z
  .string()
  .max(7)
  .regex(/^[1-5][0-9]{2}(-[1-5][0-9]{2})?$/)

/** Declares a list of ranges. */
export const statusRanges = (own: Facts<string[]>) => list(Range, MAX_RANGES, own)

/** A range of HTTP statuses, both ends included. */
export interface StatusRange {
  from: number
  to: number
}

/** `404`, `500-511`. */
export function toStatusRange(text: string): StatusRange {
  const [from = 0, to = from] = text.split('-').map(Number)
  return { from, to }
}

/** False for a range that is empty, such as `511-500`. */
export const isStatusRange = (text: string): boolean => {
  const { from, to } = toStatusRange(text)
  return from <= to
}

/** Whether a status is in one of the ranges. */
export const isStatusIn = (status: number, ranges: readonly StatusRange[]): boolean =>
  ranges.some(({ from, to }) => status >= from && status <= to)
