import { devices as playwrightDevices } from 'playwright'
import t from 'tap'
import { withDefaults } from '../../../../../crds/src/options/catalog.ts'
import { DEVICES, findDevice, toDeviceId } from '../../../../../crds/src/options/page/devices.ts'

t.test('the device list equals the list of the installed playwright', async (t) => {
  const fromPlaywright = Object.entries(playwrightDevices).map(
    ([name, { viewport, deviceScaleFactor, isMobile, hasTouch, userAgent }]) => ({
      name,
      ...viewport,
      scale: deviceScaleFactor,
      mobile: isMobile,
      touch: hasTouch,
      userAgent,
    }),
  )
  t.strictSame(JSON.parse(JSON.stringify(DEVICES)), fromPlaywright, 'run capture-runner/generate-devices.ts')
})

t.test('every device has a unique id, and findDevice finds it by that id', async (t) => {
  t.equal(new Set(DEVICES.map(({ name }) => toDeviceId(name))).size, DEVICES.length)
  for (const device of DEVICES) if (findDevice(toDeviceId(device.name)) !== device) t.fail(device.name)
})

t.test('findDevice ignores case and separators', async (t) => {
  for (const name of ['iPhone 15 Pro', 'iphone_15_pro', 'IPHONE-15-PRO', 'iphone15pro']) t.equal(findDevice(name)?.name, 'iPhone 15 Pro')
  t.not(findDevice('Galaxy S9+'), undefined)
  t.equal(findDevice('iPhone 99'), undefined)
})

t.test('withDefaults takes the viewport from the device unless an option overrides it', async (t) => {
  t.match(withDefaults({ device: 'iPhone 15 Pro' }), { viewportWidth: 393, viewportHeight: 659, deviceScaleFactor: 3 })
  t.match(withDefaults({ device: 'iPhone 15 Pro', viewportWidth: 500 }), { viewportWidth: 500, viewportHeight: 659 })
})
