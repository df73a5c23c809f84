// Examples of deliveries. A test checks them against the schemas.

export const deliveryId = 'dlv_01kajq2v0vtz8m3c5x7r9w4n6p'
const eventId = 'evt_01kajq2v0vtz8m3c5x7r9w4n6p'

const delivery = {
  id: deliveryId,
  event_id: eventId,
  event_type: 'screenshot.completed',
  screenshot_id: 'scr_7yztsh6vzw7j4q0n9x2c5d8e1f',
  status: 'successful',
  attempt_count: 2,
  first_attempt_at: '2026-11-21T10:00:02.010Z',
  last_attempt_at: '2026-11-21T10:00:07.214Z',
  last_status_code: 200,
  attempts: [
    {
      number: 1,
      manual: false,
      at: '2026-11-21T10:00:02.010Z',
      duration_ms: 41,
      status_code: 503,
      error: 'answered',
      error_message: 'the endpoint responded with 503',
      response_body: 'back in a minute',
    },
    {
      number: 2,
      manual: false,
      at: '2026-11-21T10:00:07.214Z',
      duration_ms: 38,
      status_code: 200,
      error: null,
      error_message: null,
      response_body: '',
    },
  ],
}

export const deliveryFound = { success: true, data: delivery }
export const deliveryList = { success: true, data: [delivery], pagination: { limit: 100, has_more: false, next_cursor: null } }
export const missedRedelivery = { success: true, message: 'Redelivery of missed events requested', data: { missed_deliveries: 2400 } }
export const redeliveryAccepted = {
  success: true,
  message: 'Redelivery requested',
  data: { delivery_id: deliveryId, event_id: eventId },
}
