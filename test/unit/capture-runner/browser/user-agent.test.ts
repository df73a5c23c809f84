import t from 'tap'
import { buildUserAgent, userAgentOf } from '../../../../capture-runner/src/browser/user-agent.ts'
import { findDevice } from '../../../../crds/src/options/page/devices.ts'

const VERSION = '157.1.2.3'

t.test('userAgentOf is the browser’s own without Headless', async (t) => {
  t.match(userAgentOf(VERSION), /^Mozilla\/5\.0 \(X11; Linux x86_64\) .* Chrome\/157\.0\.0\.0 Safari/)
})

t.test('a device’s Chrome has this browser’s version, in the header and in client hints', async (t) => {
  const pixel = findDevice('Pixel 9')
  const { userAgent, userAgentMetadata } = buildUserAgent(VERSION, pixel)
  t.match(userAgent, /Android .*Chrome\/157\.0\.0\.0 Mobile/)
  t.match(userAgentMetadata, { platform: 'Android', model: 'Pixel 9', mobile: true, brands: [{}, { brand: 'Chromium', version: '157' }] })
})

t.test('a device with another browser keeps its user agent and sends no hints', async (t) => {
  const iphone = findDevice('iPhone 15 Pro')
  t.strictSame(buildUserAgent(VERSION, iphone), { userAgent: iphone?.userAgent, platform: 'iPhone' })
})

t.test('a client’s user agent is sent unchanged, with matching client hints and platform', async (t) => {
  const userAgent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36'
  t.match(buildUserAgent(VERSION, { mobile: false, touch: false, userAgent, isExact: true }), {
    userAgent,
    platform: 'Win32',
    userAgentMetadata: { platform: 'Windows', brands: [{}, { brand: 'Chromium', version: '120' }], mobile: false },
  })
})

t.test('a client’s platform appears in navigator and in client hints', async (t) => {
  for (const [platform, hinted] of [
    ['Win64', 'Windows'],
    ['MacIntel', 'macOS'],
    ['iPhone', 'iOS'],
    ['Linux armv8l', 'Android'],
    ['Linux x86_64', 'Linux'],
    ['FreeBSD amd64', 'FreeBSD amd64'],
  ]) {
    t.match(buildUserAgent(VERSION, { mobile: false, touch: false, platform: platform ?? '' }), {
      platform,
      userAgentMetadata: { platform: hinted },
    })
  }
})
