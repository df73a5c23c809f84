import { group, off, SEPARATE } from '../rules/declare.ts'

const file = (what: string) => off(`Stores ${what} beside the capture.`)

/** Files to store beside the capture. The record lists them in `artifacts`. */
export const extraFilesGroup = group('Additional files', SEPARATE, {
  saveHtml: file('the page’s final HTML, with the values of visible fields and without passwords,'),
  saveText: file('the page’s visible text, with that of fields, buttons and style sheets and without passwords,'),
  saveMhtml: file('the page with its images and styles as one MHTML file, which can contain what mask_selectors hides,'),
  saveHar: file('the page’s requests as a HAR file, without cookies, credentials or bodies, which can contain what mask_selectors hides,'),
  saveConsole: file('console messages and uncaught errors, which can contain what mask_selectors hides, as JSON'),
  saveAccessibilityTree: file('the accessibility tree as JSON'),
})
