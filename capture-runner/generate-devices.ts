// Writes crds/src/options/page/device-list.json from Playwright's device list (Apache-2.0). Run it after an update of playwright.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { devices } from 'playwright'

const list = Object.entries(devices).map(([name, { viewport, deviceScaleFactor, isMobile, hasTouch, userAgent }]) => ({
  name,
  width: viewport.width,
  height: viewport.height,
  scale: deviceScaleFactor,
  mobile: isMobile,
  touch: hasTouch,
  userAgent,
}))
const lines = list.map((device) => `  ${JSON.stringify(device)}`)
writeFileSync(fileURLToPath(new URL('../crds/src/options/page/device-list.json', import.meta.url)), `[\n${lines.join(',\n')}\n]\n`)
