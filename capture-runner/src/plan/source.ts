import type { EffectiveOptions } from '@tintype/crds/options/catalog'

/** Source of the page. */
export interface SourcePlan {
  /** The page itself, shown at the plan's URL; absent: the URL is fetched. */
  markup?: { kind: 'html' | 'markdown'; text: string }
  /** Magnification of a page for a PDF; absent: 1. */
  zoom?: number
}

/** URL of markup without a base URL. It is never requested. Plain http, so that the markup may load http and https images. */
export const SYNTHETIC_ADDRESS = 'http://html.invalid/'

/** The URL that the browser opens. */
export const addressOf = (url: string, { html, markdown, htmlBaseUrl }: Partial<EffectiveOptions>): string =>
  html === undefined && markdown === undefined ? url : (htmlBaseUrl ?? SYNTHETIC_ADDRESS)

/** Builds the plan for the source. */
export function buildSource({ html, markdown, pageZoom, format }: EffectiveOptions): SourcePlan {
  return {
    ...(html === undefined ? {} : { markup: { kind: 'html', text: html } }),
    ...(markdown === undefined ? {} : { markup: { kind: 'markdown', text: markdown } }),
    ...(pageZoom === 1 || format !== 'pdf' ? {} : { zoom: pageZoom }),
  }
}
