import { z } from 'zod'
import { comparisonGroup } from './output/comparison.ts'
import { storageGroup } from './output/delivery.ts'
import { extraFilesGroup, metadataGroup } from './output/extra-files.ts'
import { imageGroup, imageProcessingGroup, pdfGroup, videoGroup } from './output/formats.ts'
import { previewGroup } from './output/preview.ts'
import { emulationGroup, findDevice, identityGroup, networkGroup, placeGroup, viewportGroup } from './page/browser.ts'
import { failingGroup, sourceGroup, waitingGroup } from './page/loading.ts'
import { fullPageGroup, regionGroup } from './page/part.ts'
import { blockingGroup, preparingGroup } from './page/preparing.ts'
import { defaultsOf, type Option } from './rules/declare.ts'

// The only definition of the capture options. The REST schema, CRD fields, OpenAPI document, types and docs/options.md derive from it. No field has
// a `default:` in the CRD: defaults in every object would cost about 3 KB each and hide which options the caller set. The defaults are
// applied when a capture is planned.

/** Every group of capture options, in the order of the CRD. */
export const captureGroups = [
  ...([viewportGroup, sourceGroup, identityGroup, networkGroup, placeGroup, emulationGroup, preparingGroup, blockingGroup] as const),
  ...([
    waitingGroup,
    failingGroup,
    fullPageGroup,
    regionGroup,
    imageGroup,
    imageProcessingGroup,
    previewGroup,
    pdfGroup,
    videoGroup,
  ] as const),
  ...([extraFilesGroup, metadataGroup, comparisonGroup, storageGroup] as const),
] as const

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void ? All : never
type Table = Intersection<(typeof captureGroups)[number]['options']>

const table = Object.assign({}, ...captureGroups.map(({ options }) => options)) as { [Name in keyof Table]: Table[Name] }

const factsOf = (name: string): Option['facts'] | undefined => (table as Readonly<Record<string, Option>>)[name]?.facts

/** Every capture option; unset options are absent. Camel case here and in Kubernetes, snake case in the REST API. */
export const CaptureOptions = z.strictObject(table).partial()
export type CaptureOptions = z.infer<typeof CaptureOptions>

export const captureDefaults = defaultsOf(table)

/** The options of one capture with defaults applied. Options without a default stay optional. */
export type EffectiveOptions = CaptureOptions & typeof captureDefaults

/** Sets each unset option from the device, if there is one, else from the defaults. */
export function withDefaults(options: CaptureOptions | undefined): EffectiveOptions {
  const chosen = Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined))
  return { ...captureDefaults, ...windowOf(options?.device), ...chosen } as EffectiveOptions
}

/** The options that a device sets. */
function windowOf(name: string | undefined): CaptureOptions {
  const device = name === undefined ? undefined : findDevice(name)
  return device ? { viewportWidth: device.width, viewportHeight: device.height, deviceScaleFactor: device.scale } : {}
}

type SelectorOption =
  | 'compareIgnore'
  | { [Name in keyof Table]: Table[Name]['facts'] extends { isSelector: true } ? Name : never }[keyof Table]

/** Options that have CSS selectors. `compareIgnore` has regions too. */
export const SELECTOR_OPTIONS = Object.keys(table).filter((name) => factsOf(name)?.isSelector) as SelectorOption[]

/** True for a text that may be too long for a Kubernetes object. */
export const isLarge = (name: string): boolean => factsOf(name)?.isLarge === true
