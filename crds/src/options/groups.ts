import { cacheOptions } from './output/cache.ts'
import { comparisonOptions } from './output/comparison.ts'
import { deliveryOptions } from './output/delivery.ts'
import { extraFilesOptions } from './output/extra-files.ts'
import { imageOptions } from './output/image.ts'
import { imageProcessingOptions } from './output/image-processing.ts'
import { pdfOptions } from './output/pdf.ts'
import { storageOptions } from './output/storage.ts'
import { videoOptions } from './output/video.ts'
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
import type { DeclaredOption } from './rules/option-rules.ts'

/** A section of docs/options.md. */
export interface OptionGroup {
  title: string
  /** By names in camel case. */
  options: Readonly<Record<string, DeclaredOption>>
  /** Text that applies to all options of the group. */
  note?: string
}

/** Every group, in the order of the page. */
export const optionGroups: readonly OptionGroup[] = [
  { title: 'Viewport', options: viewportOptions },
  { title: 'Format', options: imageOptions },
  { title: 'Full pages', options: fullPageOptions },
  { title: 'Part of the page', options: regionOptions },
  { title: 'Source of the page', options: sourceOptions },
  { title: 'Identity of the request', options: identityOptions },
  {
    title: 'Private options',
    options: privateOptions,
    note: 'Private options are stored encrypted. Records show `***` instead of their values.',
  },
  { title: 'Network', options: networkOptions },
  { title: 'Place and time', options: placeOptions },
  { title: 'Device and media', options: emulationOptions },
  { title: 'Page preparation', options: preparingOptions },
  { title: 'Blocking', options: blockingOptions },
  { title: 'Waiting, limits and retries', options: waitingOptions },
  { title: 'Failure conditions', options: failingOptions },
  { title: 'Image processing', options: imageProcessingOptions },
  { title: 'PDF', options: pdfOptions },
  { title: 'Video', options: videoOptions },
  { title: 'Additional files', options: extraFilesOptions },
  { title: 'Metadata in the record', options: metadataOptions },
  { title: 'Comparison', options: comparisonOptions, note: 'See [comparisons.md](comparisons.md).' },
  {
    title: 'Your own bucket',
    options: storageOptions,
    note: 'Available only if the chart value `capture.allowedOptions.storage` is true. The credentials are private options.',
  },
  {
    title: 'Delivery',
    options: deliveryOptions,
    note: 'Set these at the top level of a body or in its `options`. A batch does not support `async` and `response_type`. With kubectl these are fields of `spec`, and `download_url_ttl` is `downloadUrlTtlSeconds`.',
  },
  { title: 'Cache', options: cacheOptions, note: 'REST API only. A Screenshot that you create with kubectl is always captured.' },
]

/** Every option by its name in camel case. */
export const optionsByName: ReadonlyMap<string, DeclaredOption> = new Map(optionGroups.flatMap(({ options }) => Object.entries(options)))
