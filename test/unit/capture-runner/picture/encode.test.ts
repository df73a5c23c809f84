import sharp, { type Sharp } from 'sharp'
import t from 'tap'
import { encode } from '../../../../capture-runner/src/picture/encode.ts'

const open = () => sharp({ create: { width: 64, height: 64, channels: 3, background: '#f00' } })

t.test('encode creates each format at any quality', async (t) => {
  const wanted = (['png', 'jpeg', 'webp'] as const).flatMap((format) => [0, 1, 90, 100].map((quality) => ({ format, quality })))
  const made = await Promise.all(
    wanted.map(async ({ format, quality }) => {
      const encoded = await encode(open, format, quality)
      const { format: actual, width, height } = await sharp(encoded.picture).metadata()
      return { format: actual, width, height, quality: encoded.quality }
    }),
  )
  t.strictSame(
    made,
    wanted.map(({ format, quality }) => ({ format, width: 64, height: 64, quality: format === 'png' ? undefined : quality })),
  )
})

/** An image whose WebP overflows until the quality is low enough or the effort high enough. */
function detailed(holds: (quality: number, effort: number) => boolean) {
  const tries: [number, number][] = []
  const webp = ({ quality, effort }: { quality: number; effort: number }) => {
    tries.push([quality, effort])
    return { toBuffer: async () => (holds(quality, effort) ? Buffer.of(1) : Promise.reject(new Error('webpsave: unable to encode'))) }
  }
  return { tries, open: () => ({ webp }) as unknown as Sharp }
}

t.test('encode raises the effort for a WebP with much detail before it lowers the quality', async (t) => {
  const pains = detailed((_quality, effort) => effort > 0)
  t.equal((await encode(pains.open, 'webp', 90)).quality, 90)
  t.strictSame(pains.tries, [
    [90, 0],
    [90, 2],
  ])
  const lower = detailed((quality) => quality < 50)
  t.equal((await encode(lower.open, 'webp', 90)).quality, 45)
})

t.test('encode suggests other formats if a WebP is impossible', async (t) => {
  await t.rejects(encode(detailed(() => false).open, 'webp', 90), { code: 'TOO_LARGE', message: /jpeg or png/ })
})
