import type { z } from 'zod'
import { cacheOptions } from './output/cache.ts'
import { deliveryOptions } from './output/delivery.ts'
import { extraFilesOptions } from './output/extra-files.ts'
import { imageOptions } from './output/image.ts'
import { imageProcessingOptions } from './output/image-processing.ts'
import { pdfOptions } from './output/pdf.ts'
import { storageOptions } from './output/storage.ts'
import { blockingOptions } from './page/blocking.ts'
import { emulationOptions } from './page/emulation.ts'
import { failingOptions } from './page/failing.ts'
import { fullPageOptions } from './page/full-page.ts'
import { identityOptions } from './page/identity.ts'
import { metadataOptions } from './page/metadata.ts'
import { networkOptions } from './page/network.ts'
import { placeOptions } from './page/place.ts'
import { preparingOptions } from './page/preparing.ts'
import { regionOptions } from './page/region.ts'
import { sourceOptions } from './page/source.ts'
import { viewportOptions } from './page/viewport.ts'
import { waitingOptions } from './page/waiting.ts'
import { privateOptions } from './private.ts'

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
