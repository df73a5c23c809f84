import type { EffectiveOptions } from '@tintype/crds/options/catalogue'

/** Where the page comes from. */
export interface SourcePlan {
  /** The page itself, to be shown at the plan's address; absent: it is fetched. */
  markup?: { kind: 'html' | 'markdown'; text: string }
  referer?: string
  /** Above 0 and other than 1: the page is magnified. */
  zoom?: number
}

/** Address that markup without one of its own is shown at; nothing is ever asked there. Plain http, so that it may name pictures of both kinds. */
export const SYNTHETIC_ADDRESS = 'http://html.invalid/'

/** The address that the browser is sent to. */
export const addressOf = (url: string, { html, markdown, htmlBaseUrl }: Partial<EffectiveOptions>): string =>
  html === undefined && markdown === undefined ? url : (htmlBaseUrl ?? SYNTHETIC_ADDRESS)

/** Works out where the page comes from. */
export function buildSource({ html, markdown, referer, pageZoom }: EffectiveOptions): SourcePlan {
  return {
    ...(html === undefined ? {} : { markup: { kind: 'html', text: html } }),
    ...(markdown === undefined ? {} : { markup: { kind: 'markdown', text: markdown } }),
    ...(referer === undefined ? {} : { referer }),
    ...(pageZoom === 1 ? {} : { zoom: pageZoom }),
  }
}
