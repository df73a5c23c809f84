import t from 'tap'
import { buildScreenshot } from '../../../../api-gateway/src/creation/new-screenshot.ts'
import { SCREENSHOT_ID } from '../fakes.ts'

t.test('buildScreenshot stores what was chosen and nothing else', async (t) => {
  t.strictSame(buildScreenshot(SCREENSHOT_ID, { accountName: 'acme', url: 'https://example.com/', batchId: undefined }), {
    metadata: { name: SCREENSHOT_ID.replace('_', '-') },
    spec: { url: 'https://example.com/', accountName: 'acme' },
  })
  t.strictSame(buildScreenshot(SCREENSHOT_ID, { url: 'https://example.com/', options: { delay: 5 } }).spec.options, { delay: 5 })
})
