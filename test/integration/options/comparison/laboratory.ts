import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import pixelmatch from 'pixelmatch'
import sharp from 'sharp'
import type { Test } from 'tap'
import { drawDifferences, examine, openBaseline } from '../../../../capture-runner/src/capture/compare.ts'
import type { Captured } from '../../../../capture-runner/src/capture/run.ts'
import { toIgnoreMask } from '../../../../capture-runner/src/comparison/ignore-mask.ts'
import { PAGE_FRAME, toBoxes, toIgnored } from '../../../../capture-runner/src/comparison/to-boxes.ts'
import { buildPlan } from '../../../../capture-runner/src/plan/plan.ts'
import type { Comparison, PictureBox } from '../../../../crds/src/kinds/comparison.ts'

// Compares captures as a runner does, and again with pixelmatch on the whole pictures.

const signal = AbortSignal.timeout(300_000)

/** A comparison, and the picture of the differences if there is one. */
export interface Compared {
  comparison: Comparison
  diff: Buffer | undefined
  /** The share of changed pixels that pixelmatch finds in the whole pictures. */
  reference: number
  /** Areas that were ignored, in pixels of the picture. */
  ignored: PictureBox[]
}

/** Starts a store for the earlier pictures, which ends with the test file. */
export async function openLaboratory(t: Test) {
  const files = new Map<string, Buffer>()
  const store = createServer((request, response) => {
    const file = files.get(request.url ?? '')
    response.writeHead(file ? 200 : 404).end(file)
  })
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve))
  t.teardown(() => store.close())
  const { port } = store.address() as AddressInfo
  let count = 0
  return {
    compareCaptures: async (before: Captured, after: Captured, options: CaptureOptions = {}): Promise<Compared> => {
      const path = `/${++count}`
      files.set(path, before.picture)
      const ofBefore = toIgnored(before.findings.ignoredElements ?? [], before.findings.frame ?? PAGE_FRAME)
      const order = { url: `http://127.0.0.1:${port}${path}`, headers: {}, maxBytes: 100_000_000, ignored: ofBefore }
      await using baseline = await openBaseline(order, signal)
      const plan = buildPlan('https://example.com/', options)
      const examined = await examine(after.picture, baseline!, after.findings, plan, signal)
      await drawDifferences(examined, after.findings, signal)
      const { comparison } = examined
      const { ignoredSelectors, ignoredRegions } = plan.comparison
      const frame = after.findings.frame ?? PAGE_FRAME
      const ignored = [
        ...(after.findings.ignoredElements ?? []).flatMap(({ areas }) => toBoxes(areas, frame)),
        ...toBoxes(ignoredRegions, frame),
        ...ofBefore.flatMap(({ selector, boxes }) => (ignoredSelectors.includes(selector) ? boxes : [])),
      ]
      const reference = await compareWhole(before.picture, after.picture, { ...plan.comparison, ignored })
      return { comparison, diff: after.findings.files.get('diff'), reference, ignored }
    },
  }
}

interface Settings {
  colorTolerance: number
  antialiasing: boolean
  ignored: readonly PictureBox[]
}

/** The share of changed pixels by pixelmatch alone. Pixels that only one picture has are changed. */
async function compareWhole(before: Buffer, after: Buffer, { colorTolerance, antialiasing, ignored }: Settings): Promise<number> {
  const [a, b] = await Promise.all([before, after].map((picture) => sharp(picture, { limitInputPixels: false }).metadata()))
  const width = Math.min(a!.width, b!.width)
  const height = Math.min(a!.height, b!.height)
  const cut = (picture: Buffer) =>
    sharp(picture, { limitInputPixels: false })
      .extract({ left: 0, top: 0, width, height })
      .toColourspace('srgb')
      .ensureAlpha()
      .raw()
      .toBuffer()
  const pixels = await Promise.all([cut(before), cut(after)])
  const mask = new Uint8Array(width * height * 4)
  const options = {
    ...{ threshold: colorTolerance, includeAA: antialiasing, diffMask: true, checkerboard: false },
    ignoreMask: toIgnoreMask(ignored, { top: 0, width, height }),
  }
  for (const background of [255, 0]) {
    const [first, second] = pixels.map((one) => flatten(one, background))
    pixelmatch(first!, second!, mask, width, height, options)
  }
  const common = new Uint32Array(mask.buffer).reduce((sum, value) => sum + (value === 0 ? 0 : 1), 0)
  const [whole, high] = [Math.max(a!.width, b!.width), Math.max(a!.height, b!.height)]
  const outside = toIgnoreMask(ignored, { top: 0, width: whole, height: high }) ?? new Uint8Array(whole * high)
  const changedOutside = outside.reduce(
    (sum, value, index) => sum + (value === 0 && (index % whole >= width || index >= height * whole) ? 1 : 0),
    0,
  )
  return (common + changedOutside) / (whole * high)
}

function flatten(pixels: Buffer, background: number): Uint8Array {
  const flat = new Uint8Array(pixels)
  for (let at = 0; at < flat.length; at += 4) {
    const alpha = flat[at + 3]!
    for (let channel = 0; channel < 3; channel++) {
      flat[at + channel] = Math.round((flat[at + channel]! * alpha + background * (255 - alpha)) / 255)
    }
    flat[at + 3] = 255
  }
  return flat
}
