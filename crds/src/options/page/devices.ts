import list from './device-list.json' with { type: 'json' }

/** A device to emulate, as Playwright describes it. */
export interface Device {
  /** Playwright's spelling, such as `iPhone 15 Pro`. */
  name: string
  /** CSS pixels. */
  width: number
  height: number
  /** Device pixels for each CSS pixel. */
  scale: number
  /** Honors the page's viewport tag and has overlay scrollbars. */
  mobile: boolean
  touch: boolean
  userAgent: string
}

/** Every device, in Playwright's order. capture-runner/generate-devices.ts writes the list. */
export const DEVICES: readonly Device[] = list

/** Ignores case and separators: `iPhone 15 Pro`, `iphone_15_pro` and `IPHONE-15-PRO` name one device. */
const fold = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('+', 'plus')
    .replaceAll(/[^a-z0-9]/g, '')

const byFoldedName = new Map(DEVICES.map((device) => [fold(device.name), device]))

/** Finds a device by its name in any spelling. */
export const findDevice = (name: string): Device | undefined => byFoldedName.get(fold(name))

/** `iPhone 15 Pro` → `iphone_15_pro`, the spelling of the REST API. */
export const toDeviceId = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('+', '_plus')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')
