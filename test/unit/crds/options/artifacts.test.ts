import t from 'tap'
import { artifactsOf, thumbnailFormat } from '../../../../crds/src/options/artifacts.ts'
import { parseObjectKey } from '../../../../crds/src/records/storage-keys.ts'

t.test('artifactsOf returns only the files that the options request', async (t) => {
  t.strictSame(artifactsOf(undefined), [])
  t.strictSame(artifactsOf({ saveHtml: false, format: 'webp' }), [])
  t.match(artifactsOf({ thumbnailWidth: 100, format: 'webp', saveHar: true }), [
    { type: 'thumbnail', extension: 'thumb.webp', contentType: 'image/webp' },
    { type: 'har', extension: 'har', contentType: 'application/json' },
  ])
})

const everything = {
  ...{ thumbnailWidth: 100, saveHtml: true, saveText: true, saveMhtml: true },
  ...{ saveHar: true, saveConsole: true, saveAccessibilityTree: true, videoPoster: true },
}

t.test('artifactsOf gives every file a unique key that downloads accept', async (t) => {
  const extensions = ['png', ...artifactsOf(everything).map(({ extension }) => extension)]
  t.equal(new Set(extensions).size, 9)
  const id = 'scr_0123456789abcdefghjkmnpqrs'
  for (const extension of extensions) t.match(parseObjectKey(`users/acme/${id}.${extension}`), { id, extension })
})

t.test('thumbnailFormat is the picture’s format if thumbnails support it', async (t) => {
  t.equal(thumbnailFormat({ thumbnailWidth: 100 }), 'png')
  t.equal(thumbnailFormat({ thumbnailHeight: 100, format: 'avif' }), 'webp')
  t.equal(thumbnailFormat({ thumbnailHeight: 100, format: 'avif', thumbnailFormat: 'jpeg' }), 'jpeg')
  t.equal(thumbnailFormat({ thumbnailFormat: 'jpeg' }), undefined)
  t.equal(thumbnailFormat({ thumbnailWidth: 100, format: 'pdf' }), undefined)
})

t.test('a video has a poster and no thumbnail', async (t) => {
  t.equal(thumbnailFormat({ thumbnailWidth: 100, format: 'mp4' }), undefined)
  t.match(artifactsOf({ format: 'mp4', videoPoster: true }), [{ type: 'poster', extension: 'poster.jpeg', contentType: 'image/jpeg' }])
})
