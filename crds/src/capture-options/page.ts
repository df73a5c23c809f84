import { z } from 'zod'
import { selector } from './waiting.ts'

const TEXT_LENGTH = 262144

/** What is done to the page before the picture is taken (spec 2.2). */
export const pageOptions = {
  styles: z.string().max(TEXT_LENGTH).describe('CSS put into the page, at most 262144 characters. Default: none.'),
  scripts: z
    .string()
    .max(TEXT_LENGTH)
    .describe('JavaScript run in the page after it has loaded, at most 262144 characters. Default: none.'),
  click: selector('CSS selector of an element to click before the picture is taken. Default: none.'),
}
