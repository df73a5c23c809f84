import type { z } from 'zod'
import { blockingOptions } from './blocking.ts'
import { cacheOptions } from './cache.ts'
import { deliveryOptions } from './delivery.ts'
import { emulationOptions } from './emulation.ts'
import { extraFilesOptions } from './extra-files.ts'
import { failingOptions } from './failing.ts'
import { fullPageOptions } from './full-page.ts'
import { identityOptions } from './identity.ts'
import { imageOptions } from './image.ts'
import { imageProcessingOptions } from './image-processing.ts'
import { metadataOptions } from './metadata.ts'
import { networkOptions } from './network.ts'
import { pdfOptions } from './pdf.ts'
import { placeOptions } from './place.ts'
import { preparingOptions } from './preparing.ts'
import { privateOptions } from './private.ts'
import { regionOptions } from './region.ts'
import { sourceOptions } from './source.ts'
import { storageOptions } from './storage.ts'
import { viewportOptions } from './viewport.ts'
import { waitingOptions } from './waiting.ts'

/** Options that belong together, as docs/options.md shows them. */
export interface OptionGroup {
  title: string
  /** By their names in camel case. */
  options: Readonly<Record<string, z.ZodType>>
  /** What holds for all of them. */
  note?: string
}

/** Every group, in the order of the page. */
export const optionGroups: readonly OptionGroup[] = [
  { title: 'The window', options: viewportOptions },
  { title: 'The picture', options: imageOptions },
  { title: 'Full pages', options: fullPageOptions },
  { title: 'A part of the page', options: regionOptions },
  { title: 'Source of the page', options: sourceOptions },
  { title: 'Identity of the request', options: identityOptions },
  {
    title: 'Private options',
    options: privateOptions,
    note: 'Sealed wherever they are kept; records show `***` in their place.',
  },
  { title: 'Network path', options: networkOptions },
  { title: 'Place and time', options: placeOptions },
  { title: 'Device and media', options: emulationOptions },
  { title: 'Preparing the page', options: preparingOptions },
  { title: 'Blocking', options: blockingOptions },
  { title: 'Waiting, limits and retries', options: waitingOptions },
  { title: 'When a capture counts as failed', options: failingOptions },
  { title: 'Processing of the picture', options: imageProcessingOptions },
  { title: 'PDF', options: pdfOptions },
  { title: 'Files beside the picture', options: extraFilesOptions },
  { title: 'Metadata in the record', options: metadataOptions },
  {
    title: 'A store of your own',
    options: storageOptions,
    note: 'Refused unless `capture.allowedOptions.storage` allows them. The credentials are private options.',
  },
  {
    title: 'Delivery',
    options: deliveryOptions,
    note: 'At the top level of a body or in its `options`; `async` and `response_type` not in a batch. With kubectl these are fields of `spec` itself, `download_url_ttl` as `downloadUrlTtlSeconds`.',
  },
  { title: 'Cache', options: cacheOptions, note: 'Of the REST API only: what is made with kubectl is always captured.' },
]
