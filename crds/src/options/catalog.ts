import { z } from 'zod'
import { comparisonDefaults, comparisonOptions } from './output/comparison.ts'
import { extraFilesDefaults, extraFilesOptions } from './output/extra-files.ts'
import { imageDefaults, imageOptions } from './output/image.ts'
import { imageProcessingDefaults, imageProcessingOptions } from './output/image-processing.ts'
import { pdfDefaults, pdfOptions } from './output/pdf.ts'
import { storageDefaults, storageOptions } from './output/storage.ts'
import { videoDefaults, videoOptions } from './output/video.ts'
import { blockingDefaults, blockingOptions } from './page/blocking.ts'
import { findDevice } from './page/devices.ts'
import { emulationDefaults, emulationOptions } from './page/emulation.ts'
import { failingDefaults, failingOptions } from './page/failing.ts'
import { fullPageDefaults, fullPageOptions } from './page/full-page.ts'
import { identityDefaults, identityOptions } from './page/identity.ts'
import { metadataDefaults, metadataOptions } from './page/metadata.ts'
import { networkDefaults, networkOptions } from './page/network.ts'
import { placeDefaults, placeOptions } from './page/place.ts'
import { preparingDefaults, preparingOptions } from './page/preparing.ts'
import { regionDefaults, regionOptions } from './page/region.ts'
import { sourceDefaults, sourceOptions } from './page/source.ts'
import { viewportDefaults, viewportOptions } from './page/viewport.ts'
import { waitingDefaults, waitingOptions } from './page/waiting.ts'
import type { DeclaredOption } from './rules/option-rules.ts'

// The only definition of the capture options. The REST schema, CRD fields, OpenAPI document, types and docs/options.md derive from it. No field has
// a `default:` in the CRD: defaults in every object would cost about 3 KB each and hide which options the caller set. The defaults are
// applied when a capture is planned.

/** Every capture option; unset options are absent. Camel case here and in Kubernetes, snake case in the REST API. */
export const CaptureOptions = z
  .strictObject({
    ...viewportOptions,
    ...sourceOptions,
    ...identityOptions,
    ...networkOptions,
    ...placeOptions,
    ...emulationOptions,
    ...preparingOptions,
    ...blockingOptions,
    ...waitingOptions,
    ...failingOptions,
    ...fullPageOptions,
    ...regionOptions,
    ...imageOptions,
    ...imageProcessingOptions,
    ...pdfOptions,
    ...videoOptions,
    ...extraFilesOptions,
    ...metadataOptions,
    ...comparisonOptions,
    ...storageOptions,
  } satisfies Readonly<Record<string, DeclaredOption>>)
  .partial()
export type CaptureOptions = z.infer<typeof CaptureOptions>

export const captureDefaults = {
  ...viewportDefaults,
  ...sourceDefaults,
  ...identityDefaults,
  ...networkDefaults,
  ...placeDefaults,
  ...emulationDefaults,
  ...preparingDefaults,
  ...blockingDefaults,
  ...waitingDefaults,
  ...failingDefaults,
  ...fullPageDefaults,
  ...regionDefaults,
  ...imageDefaults,
  ...imageProcessingDefaults,
  ...pdfDefaults,
  ...videoDefaults,
  ...extraFilesDefaults,
  ...metadataDefaults,
  ...comparisonDefaults,
  ...storageDefaults,
}

/** The options of one capture with defaults applied. Options without a default stay optional. */
export type EffectiveOptions = CaptureOptions & {
  [Name in keyof typeof captureDefaults]: NonNullable<CaptureOptions[Name & keyof CaptureOptions]>
}

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

/** Options that may be too long for a Kubernetes object. If the options of an object exceed 8 KiB, these move to the bucket. */
export const LARGE_OPTIONS = [
  'html',
  'markdown',
  'styles',
  'scripts',
  'initScript',
  'pdfHeaderTemplate',
  'pdfFooterTemplate',
] as const satisfies readonly (keyof CaptureOptions)[]
