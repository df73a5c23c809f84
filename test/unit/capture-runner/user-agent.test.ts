import t from 'tap'
import { buildUserAgent, userAgentOf } from '../../../capture-runner/src/user-agent.ts'
import { findDevice } from '../../../crds/src/devices.ts'

const VERSION = '157.1.2.3'

t.test('userAgentOf is the browser’s own without Headless', async (t) => {
  t.match(userAgentOf(VERSION), /^Mozilla\/5\.0 \(X11; Linux x86_64\) .* Chrome\/157\.0\.0\.0 Safari/)
})

t.test('a Chrome of a device has this browser’s version, in header and hints alike', async (t) => {
  const pixel = findDevice('Pixel 9')
  const { userAgent, userAgentMetadata } = buildUserAgent(VERSION, pixel)
  t.match(userAgent, /Android .*Chrome\/157\.0\.0\.0 Mobile/)
  t.match(userAgentMetadata, { platform: 'Android', model: 'Pixel 9', mobile: true, brands: [{}, { brand: 'Chromium', version: '157' }] })
})

t.test('a device with another browser keeps its user agent and sends no hints', async (t) => {
  const iphone = findDevice('iPhone 15 Pro')
  t.strictSame(buildUserAgent(VERSION, iphone), { userAgent: iphone?.userAgent })
})
