# {{ v.Title|req }}

{{ v.About|req }}

| file | what it is |
|---|---|
{% for f in v.Files %}| {{ f.Names|req }} | {{ f.What|req }} |
{% endfor %}{% for s in v.Steps %}
## {{ s.Title|req }}

{{ s.Text|req }}
{% if s.Commands %}
```sh
{% for c in s.Commands %}{{ c|req }}
{% endfor %}```
{% endif %}{% endfor %}