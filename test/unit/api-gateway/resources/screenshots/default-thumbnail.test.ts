import t from 'tap'
import { withDefaultThumbnail } from '../../../../../api-gateway/src/resources/screenshots/options/default-thumbnail.ts'
import type { CaptureOptions } from '../../../../../crds/src/options/catalog.ts'
import { aGateway } from '../../fakes.ts'

const thumbnail = { thumbnailWidth: 320, thumbnailHeight: 240, thumbnailFormat: 'webp' }

t.test('a screenshot gets the thumbnail of the service, unless it asks for one or cannot have one', async (t) => {
  const optionsOf = (options: CaptureOptions | undefined, width = 320) =>
    withDefaultThumbnail(options === undefined ? {} : { options }, width).options
  t.strictSame(optionsOf(undefined), thumbnail)
  t.strictSame(optionsOf({ format: 'avif', fullPage: true }), { format: 'avif', fullPage: true, ...thumbnail })
  t.equal(optionsOf({}, 16)?.thumbnailHeight, 16, 'the least height')
  t.equal(optionsOf(undefined, 0), undefined, 'switched off')
  for (const options of [
    { thumbnailWidth: 100 },
    { thumbnailHeight: 100 },
    { thumbnailFormat: 'png' },
    ...(['pdf', 'mp4', 'webm', 'gif'] as const).map((format) => ({ format })),
  ] as const)
    t.strictSame(optionsOf(options), options)
})

t.test('screenshots and batches of the REST API have the thumbnail of the service', async (t) => {
  const { app, headers, screenshots } = aGateway({ thumbnailWidth: 320 })
  const created = await app.inject({ method: 'POST', url: '/v1/screenshots', headers, payload: { url: 'https://example.com/' } })
  t.match(created.json().options, { thumbnail_width: 320, thumbnail_height: 240, thumbnail_format: 'webp' })
  const batch = { urls: ['https://example.com/a', 'https://example.com/b'] }
  t.equal((await app.inject({ method: 'POST', url: '/v1/screenshots/batch', headers, payload: batch })).statusCode, 202)
  const specs = [...screenshots.objects.values()].map(({ spec }) => spec.options)
  t.strictSame(specs, [thumbnail, thumbnail, thumbnail])
})
