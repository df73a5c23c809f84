import type { PageFunctions } from '../../../src/page/functions.ts'
import { looksChallenged } from '../navigation/content.ts'
import { read } from '../shared/dom.ts'
import { readVisibleText, toSavedText } from '../shared/text.ts'
import { navigationTiming } from '../shared/timing.ts'

export const readHtml: PageFunctions['readHtml'] = () => {
  const { doctype, documentElement } = document
  return (
    (doctype ? `${new XMLSerializer().serializeToString(doctype)}\n` : '') + (documentElement ? read(documentElement, 'outerHTML') : '')
  )
}

export const readText: PageFunctions['readText'] = () => toSavedText(readVisibleText())

export const readDocumentFacts: PageFunctions['readDocumentFacts'] = () => ({
  hasBody: document.body !== null,
  title: document.title.toWellFormed(),
  url: location.href,
  status: navigationTiming()?.responseStatus ?? 0,
  isChallenged: looksChallenged(),
})
