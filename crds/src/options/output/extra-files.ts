import { z } from 'zod'
import { option } from '../rules/option-rules.ts'

const file = (what: string) =>
  option({ links: 'yes', picture: 'separate' }, z.boolean().describe(`Stores ${what} beside the capture. Default: false.`))

/** Files to store beside the capture. The record lists them in `artifacts`. */
export const extraFilesOptions = {
  saveHtml: file('the page’s final HTML, with the values of visible fields and without passwords,'),
  saveText: file('the page’s visible text, with that of fields, buttons and style sheets and without passwords,'),
  saveMhtml: file('the page with its images and styles as one MHTML file, which can contain what mask_selectors hides,'),
  saveHar: file('the page’s requests as a HAR file, without cookies, credentials or bodies, which can contain what mask_selectors hides,'),
  saveConsole: file('console messages and uncaught errors, which can contain what mask_selectors hides, as JSON'),
  saveAccessibilityTree: file('the accessibility tree as JSON'),
}

export const extraFilesDefaults = {
  saveHtml: false,
  saveText: false,
  saveMhtml: false,
  saveHar: false,
  saveConsole: false,
  saveAccessibilityTree: false,
} as const
