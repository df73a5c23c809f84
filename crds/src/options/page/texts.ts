import { z } from 'zod'

// Kinds of text that several options are made of. Every one is bounded: they are stored in objects.

const SELECTOR_LENGTH = 1024
const ADDRESS_LENGTH = 2048
const WORDS_LENGTH = 512
const PATTERN_LENGTH = 512

/** A CSS selector. */
export const selector = (what: string) => z.string().min(1).max(SELECTOR_LENGTH).describe(what)

/** CSS selectors. */
export const selectors = (most: number, what: string) => z.array(z.string().min(1).max(SELECTOR_LENGTH)).max(most).describe(what)

/** Address of something on the web. */
export const webAddress = (what: string) =>
  z
    .string()
    .max(ADDRESS_LENGTH)
    .regex(/^https?:\/\/[-A-Za-z0-9._:[\]]+([/?#][!-~]*)?$/)
    .describe(what)

/** Addresses of files on the web. */
export const webAddresses = (most: number, what: string) =>
  z
    .array(
      z
        .string()
        .max(ADDRESS_LENGTH)
        .regex(/^https?:\/\/[^\s/]+/),
    )
    .max(most)
    .describe(what)

/** Patterns of addresses: `*` stands for anything. */
export const addressPatterns = (most: number, what: string) =>
  z
    .array(
      z
        .string()
        .min(1)
        .max(PATTERN_LENGTH)
        .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces'),
    )
    .max(most)
    .describe(what)

/** Words to look for in a page. */
export const pageWords = (most: number, what: string) => z.array(z.string().min(1).max(WORDS_LENGTH)).max(most).describe(what)

/** A CSS color: by name, by hexadecimal digits or by function. */
export const color = (what: string) =>
  z
    .string()
    .max(64)
    .regex(/^(#[0-9A-Fa-f]{3,8}|[A-Za-z]+|[A-Za-z]+\([-0-9.,%/ A-Za-z]+\))$/)
    .describe(what)
