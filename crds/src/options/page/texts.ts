import { z } from 'zod'
import { withAsciiForm } from '../../text/ascii-form.ts'

// Schemas of texts that several options use. All have a maximum length, because Kubernetes objects store them.

const SELECTOR_LENGTH = 1024
const URL_LENGTH = 2048
const TEXT_LENGTH = 512
const PATTERN_LENGTH = 512

export const selector = (what: string) => z.string().min(1).max(SELECTOR_LENGTH).describe(what)

/** CSS selectors. */
export const selectors = (most: number, what: string) => z.array(z.string().min(1).max(SELECTOR_LENGTH)).max(most).describe(what)

/** An http or https URL. */
export const httpUrl = (what: string) =>
  z
    .string()
    .max(URL_LENGTH)
    .regex(
      /^https?:\/\/[-A-Za-z0-9._:[\]]+([/?#][!-~]*)?$/,
      withAsciiForm('must be a URL that begins with http:// or https://, in small letters, such as https://example.com/'),
    )
    .describe(what)

/** http or https URLs of files. */
export const httpUrls = (most: number, what: string) =>
  z
    .array(
      z
        .string()
        .max(URL_LENGTH)
        .regex(/^https?:\/\/[^\s/]+/, 'must be an http or https URL'),
    )
    .max(most)
    .describe(what)

/** URL patterns: `*` matches any text. They are compared with URLs as browsers send them, which are ASCII. */
export const urlPatterns = (most: number, what: string) =>
  z
    .array(
      z
        .string()
        .min(1)
        .max(PATTERN_LENGTH)
        .regex(/^[\x21-\x7e]+$/, withAsciiForm('must be printable ASCII without spaces')),
    )
    .max(most)
    .describe(what)

/** Texts to look for in a page. */
export const pageTexts = (most: number, what: string) => z.array(z.string().min(1).max(TEXT_LENGTH)).max(most).describe(what)

/** A CSS color: by name, by hexadecimal digits or by function. */
export const color = (what: string) =>
  z
    .string()
    .max(64)
    .regex(/^(#[0-9A-Fa-f]{3,8}|[A-Za-z]+|[A-Za-z]+\([-0-9.,%/ A-Za-z]+\))$/)
    .describe(what)
