import t from 'tap'
import { attemptMilliseconds } from '../../../../crds/src/dispatch/deadline.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'

const cases: { name: string; options: CaptureOptions | undefined; milliseconds: number }[] = [
  { name: 'the default timeout and what surrounds it', options: undefined, milliseconds: 98_000 },
  { name: 'no wait for visual stability', options: { stabilityTimeout: 0 }, milliseconds: 90_000 },
  {
    name: 'the longer wait for visual stability of a comparison',
    options: { compareTo: 'scr_00000000000000000000000000' },
    milliseconds: 105_000,
  },
  { name: 'a timeout of its own', options: { timeout: 1_000 }, milliseconds: 69_000 },
  { name: 'a delay', options: { delay: 5_000 }, milliseconds: 103_000 },
  { name: 'a tall picture', options: { fullPage: true }, milliseconds: 148_000 },
  { name: 'the tallest picture', options: { fullPage: true, fullPageMaxHeight: 50_000 }, milliseconds: 188_000 },
  { name: 'a picture with a time of its own', options: { fullPage: true, captureTimeout: 5_000 }, milliseconds: 73_000 },
  { name: 'each selector that is waited for', options: { waitForSelector: '#a', click: '#b', timeout: 10_000 }, milliseconds: 98_000 },
  { name: 'the default video of 150 frames', options: { format: 'mp4' }, milliseconds: 128_000 },
  { name: 'the longest video', options: { format: 'webm', videoDuration: 120 }, milliseconds: 668_000 },
  {
    name: 'the longest waits that may be asked for',
    options: { timeout: 180_000, delay: 60_000, waitForSelector: '#a', click: '#b' },
    milliseconds: 668_000,
  },
]
for (const { name, options, milliseconds } of cases) {
  t.test(`attemptMilliseconds leaves room for ${name}`, async (t) => t.equal(attemptMilliseconds(options), milliseconds))
}

t.test('attemptMilliseconds leaves room for the longer wait of a run that later ones are compared with', async (t) =>
  t.equal(attemptMilliseconds(undefined, true), 105_000),
)

t.test('attemptMilliseconds is never more than 15 minutes', async (t) => {
  t.equal(attemptMilliseconds({ timeout: 10_000_000 }), 900_000)
})
