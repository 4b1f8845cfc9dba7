# How v++ --link joins the kernels: make xclbin.
[connectivity]
nk={{ v.Top|req }}:1:accelerator
{%- for m in v.Movers %}
nk={{ m.KernelName|req }}:1:{{ m.Name|req }}
{%- endfor %}
{% for m in v.Movers %}
sp={{ m.Name|req }}.m_axi_gmem:{{ m.Port|req }}
{%- endfor %}
{% for l in v.Links %}
stream_connect={{ l.Master|req }}:{{ l.Slave|req }}
{%- endfor %}
{%- if v.ILA %}

[debug]
{%- for name in v.ILA %}
chipscope=accelerator:{{ name|req }}
{%- endfor %}
{%- endif %}
