import { CaptureOptions } from '@tintype/crds/options/catalog'
import { IgnoreEntry, MAX_IGNORE_ENTRIES } from '@tintype/crds/options/output/comparison'
import { z } from 'zod'

// `compare_ignore` in the API. A selector can be a text of its own, which a CRD schema cannot express beside objects.

const error =
  'must be a CSS selector of 1 to 1024 characters, or an object with selector, or with x (or left), y (or top), width and height'
const { selector } = IgnoreEntry.shape

/** A list of selectors and regions, which becomes a list of entries. */
export const compareIgnore = z
  .array(z.union([selector.unwrap().transform((text): IgnoreEntry => ({ selector: text })), IgnoreEntry], { error }))
  .max(MAX_IGNORE_ENTRIES)
  .describe(CaptureOptions.shape.compareIgnore.unwrap().description ?? '')
  .optional()
