import { createdAt } from '../../resources/screenshots/examples.ts'

// Examples of the service. A test checks them against the schemas.

export const serviceStatus = {
  status: 'operational',
  version: '1.0.0',
  timestamp: createdAt,
  uptime_seconds: 86_400,
  response_time_ms: 2,
  components: {
    database: { status: 'operational', response_time_ms: 3 },
    storage: { status: 'operational', response_time_ms: 4 },
    api: { status: 'operational' },
  },
}

export const usage = {
  success: true,
  data: {
    period: '2026-11',
    count: 234,
    limit: 2000,
    percentage: 11.7,
    remaining: 1766,
    reset_at: '2026-12-01T00:00:00.000Z',
    plan: 'basic',
    rate_limit_per_minute: 40,
  },
}

export const deviceList = {
  success: true,
  data: [
    {
      id: 'pixel_9',
      name: 'Pixel 9',
      viewport_width: 360,
      viewport_height: 732,
      device_scale_factor: 3,
      is_mobile: true,
      has_touch: true,
      user_agent: 'Mozilla/5.0 (Linux; Android 14; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36',
    },
  ],
}
